"""An analysis as one HTML file: nothing in it is loaded from elsewhere, nothing runs, and it prints well.

Colours follow the reader's light or dark setting; what colour says is said by a shape or a word too.
"""

import html
import math
from collections.abc import Iterator, Sequence

from nardy_rl.analysis.game import MARKS, GameAnalysis, Group, JudgedPlay, JudgedTurn, Summary, mark, worst
from nardy_rl.analysis.report import (
    COLOURS,
    account_text,
    dice_text,
    game_title,
    group_title,
    judge_text,
    marks_text,
    number_games,
    outcome_text,
    play_text,
    points_text,
    sign_of,
    turn_title,
)
from nardy_rl.rules.notation import format_play
from nardy_rl.show.svg import MOVER, OPPONENT, board_svg

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --soft: #5b6570; --paper: #fff; --line: #d5dae0; --band: #f3f5f7;
  --white: #0072b2; --black: #b35900; --hot: #a4262c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #a3adb8; --paper: #15191d; --line: #39424b;
  --band: #1e2429; --white: #5cb8f0; --black: #f0a04b; --hot: #ff8f87; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); font-size: .875rem; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; white-space: nowrap; }
th { border-bottom: 1px solid var(--line); font-weight: 600; vertical-align: bottom; }
td.n, th.n { text-align: right; }
td.name { max-width: 14rem; overflow: hidden; text-overflow: ellipsis; }
tbody tr:nth-child(even) { background: var(--band); }
tr.marked td { font-weight: 600; } td.sign { color: var(--hot); }
details { margin: .6rem 0; } a { color: inherit; } summary { cursor: pointer; padding: .3rem 0; font-weight: 600; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: .8rem; }
figure { margin: 0; } figcaption { margin-bottom: .2rem; }
.board svg { display: block; width: 100%; height: auto; }
svg.graph { display: block; width: 100%; max-width: 42rem; height: auto; margin: .6rem 0; }
svg.graph text { fill: var(--soft); font: 12px system-ui, sans-serif; }
@media print { details { display: block; } }
"""


def page(groups: Sequence[Group], source: str, agent: str, depth: str, count: int) -> str:
    """The whole file.

    Args:
        groups: What was analysed.
        source: Name of the file that was analysed.
        agent: The judge's spec.
        depth: Its depth.
        count: Worst mistakes to draw.
    """
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Analysis of {_text(source)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>Analysis of {_text(source)}</h1>",
        f'<p class="soft">{_text(judge_text(agent, depth))}</p>',
    ]
    numbers = number_games(groups)
    for group in groups:
        if group.match:
            parts.append(f"<h2>{_text(group_title(group))}</h2>")
        if len(group.games) > 1:
            parts.append(f"<p>{'The match' if group.match else 'All single games'}, {len(group.games)} games:</p>")
            parts.append(_summaries(group.totals))
    every = [game for group in groups for game in group.games]
    mistakes = worst(every, count)
    if mistakes and len(every) > 1:
        parts.append('<p><a href="#mistakes">The worst mistakes</a></p>')
    for game in every:
        parts += _game(game, numbers[id(game)])
    if mistakes:
        parts.append('<h2 id="mistakes">The worst mistakes</h2>')
        parts.append('<p class="soft">Seen by the player on roll, points in his own numbering; white moved first.</p>')
        for game, turn in mistakes:
            parts += _mistake(game, turn, numbers[id(game)])
    parts.append(f'<p class="soft">Signs: {_text(marks_text())}.</p>\n</body>\n</html>\n')
    return "\n".join(parts)


def _game(game: GameAnalysis, number: int) -> Iterator[str]:
    yield f"<section>\n<h2>Game {number}: {_text(game_title(game))}</h2>"
    yield f"<p>{_text(outcome_text(game))}</p>"
    yield _summaries(game.summaries)
    yield from _graph(game)
    if account := account_text(game):
        yield f'<p class="soft">{_text(account)}</p>'
    yield f"<details>\n<summary>All {len(game.turns)} turns</summary>"
    yield from _turns(game)
    yield "</details>\n</section>"


def _summaries(summaries: Sequence[Summary]) -> str:
    headings = ["decisions", "error rate", *(sign for _, sign, _ in MARKS)]
    headings += ["lost", "luck", "result", "less luck"]
    rows = [
        [
            f'<td class="name">{_text(summary.name)}</td>',
            _number(str(summary.decisions)),
            _number("" if summary.error_rate is None else f"{summary.error_rate:.1f}"),
            *(_number(str(marked)) for marked in summary.marks),
            _number(f"{summary.lost:.3f}"),
            _number(f"{summary.luck:+z.2f}"),
            _number(points_text(summary.points)),
            _number(points_text(summary.adjusted)),
        ]
        for summary in summaries
    ]
    return _table(["<th>player</th>", *(f'<th class="n">{_text(text)}</th>' for text in headings)], rows)


def _turns(game: GameAnalysis) -> Iterator[str]:
    headings = [
        '<th class="n">turn</th>', "<th>player</th>", "<th>dice</th>", "<th>play</th>", '<th class="n">lost</th>',
        "<th></th>", '<th class="n">luck</th>',
        '<th class="n">white’s equity</th>', "<th>best plays (behind the best)</th>",
    ]  # fmt: skip
    rows = []
    for turn in game.turns:
        best = "; ".join(
            format_play(judged.play.steps) + (f" ({judged.loss:.3f}{_stderr(judged)})" if rank else "")
            for rank, judged in enumerate(turn.plays[:3])
        )
        rows.append([
            f'<td class="n">{turn.number}</td>', f"<td>{COLOURS[turn.player]}</td>", f"<td>{dice_text(turn)}</td>",
            f"<td>{play_text(turn)}</td>", _number("" if turn.made is None else f"{turn.loss:.3f}"),
            f'<td class="sign">{sign_of(turn)}</td>',
            _number(f"{turn.luck:+z.3f}"), _number(f"{turn.sign * turn.before:+z.3f}"),
            f"<td>{best or ('forced' if turn.forced else '')}</td>",
        ])  # fmt: skip
    yield _table(headings, rows, [bool(sign_of(turn)) for turn in game.turns])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    bold = [' class="marked"' if is_marked else "" for is_marked in marked] or [""] * len(rows)
    body = [f"<tr{style}>{''.join(cells)}</tr>" for style, cells in zip(bold, rows, strict=True)]
    head = f"<thead><tr>{''.join(headings)}</tr></thead>"
    return "\n".join(['<div class="scroll"><table>', head, "<tbody>", *body, "</tbody></table></div>"])


def _number(text: str) -> str:
    return f'<td class="n">{text}</td>'


def _stderr(judged: JudgedPlay) -> str:
    return f"±{judged.loss_stderr:.3f}" if judged.loss_stderr else ""


def _text(text: str) -> str:
    return html.escape(text)


# --- the worst mistakes -----------------------------------------------------------------------------------------------


def _mistake(game: GameAnalysis, turn: JudgedTurn, number: int) -> Iterator[str]:
    assert turn.made is not None
    yield f"<h3>{_text(turn_title(game, turn, number))}</h3>"
    yield '<div class="pair">'
    for word, judged in (("Played", turn.made), ("Best", turn.plays[0])):
        drawing = board_svg(
            turn.board,
            game.record.rules,
            turn.dice,
            play=judged.play.steps,
            white=MOVER if turn.player == 0 else OPPONENT,
        )
        behind = f", {judged.loss:.3f}{_stderr(judged)} behind" if judged.loss else ""
        yield f"<figure><figcaption>{word}: <b>{format_play(judged.play.steps)}</b>, equity "
        yield f'{judged.equity:+z.3f}{behind}</figcaption><div class="board">{drawing}</div></figure>'
    yield "</div>"
    if turn.xgid:
        yield f'<p class="soft">{_text(turn.xgid)}</p>'


# --- the graph --------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 480, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 470, 26, 210
_NAME = 26
"""Characters of a name that the graph has room for."""


def _graph(game: GameAnalysis) -> Iterator[str]:
    """White's equity before every throw, and the result; losses of a `MARKS` size as marks where they were made."""
    if not game.turns:
        return
    equities = [turn.sign * turn.before for turn in game.turns]
    ends = [] if game.result is None else [game.result]
    top = max(1, math.ceil(max(map(abs, equities + ends)) - 1e-9))
    last = max(len(equities) + len(ends) - 1, 1)

    def at(k: int, equity: float) -> tuple[float, float]:
        x = _LEFT + (_RIGHT - _LEFT) * k / last
        return x, (_TOP + _BOTTOM) / 2 - (_BOTTOM - _TOP) / 2 * equity / top

    white, black = (name if len(name) <= _NAME else name[: _NAME - 1] + "…" for name in game.names)
    yield f'<svg class="graph" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Equity of white by turn">'
    step = max(1, top // 3)
    for equity in range(-top, top + 1):
        if equity % step == 0:
            y = at(0, equity)[1]
            stroke = "var(--soft)" if equity == 0 else "var(--line)"
            yield f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}" stroke="{stroke}"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{f"{equity:+d}" if equity else 0}</text>'
    every = max(10, 10 * math.ceil(last / 80))
    for k in range(0, len(equities) + 1, every):
        x = at(max(k - 1, 0), 0)[0]
        yield f'<path d="M{x:.1f} {_BOTTOM}v4" stroke="var(--soft)"/>'
        yield f'<text x="{x:.1f}" y="{_BOTTOM + 17}" text-anchor="middle">{max(k, 1)}</text>'
    yield f'<text x="{_LEFT}" y="14">points for white ↑ {_text(white)} is ahead</text>'
    yield f'<text x="{_LEFT}" y="{_HEIGHT - 8}">↓ {_text(black)} is ahead</text>'
    yield f'<text x="{_RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">turn</text>'
    line = " ".join("{:.1f},{:.1f}".format(*at(k, equity)) for k, equity in enumerate(equities + ends))
    yield f'<polyline points="{line}" fill="none" stroke="var(--ink)" stroke-width="1.6" stroke-linejoin="round"/>'
    for k, turn in enumerate(game.turns):
        if name := mark(turn.loss):
            yield _dot(*at(k, equities[k]), turn, name)
    if ends:
        x, y = at(last, ends[0])
        yield f'<path d="M{x - 4:.1f} {y - 4:.1f}h8v8h-8z" fill="var(--ink)"/>'
    yield "</svg>"
    yield (
        '<p class="soft">White’s equity before every throw; the square is the result. Discs are errors of white, '
        "diamonds of black, the larger the worse.</p>"
    )


def _dot(x: float, y: float, turn: JudgedTurn, name: str) -> str:
    size = 2.5 + 1.5 * [word for word, _, _ in MARKS].index(name)
    title = f"<title>turn {turn.number}: {name}, {turn.loss:.3f}</title>"
    if turn.player == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="var(--white)">{title}</circle>'
    half = 1.3 * size
    corners = f"M{x:.1f} {y - half:.1f}l{half} {half} {-half} {half} {-half} {-half}z"
    return f'<path d="{corners}" fill="var(--black)">{title}</path>'
