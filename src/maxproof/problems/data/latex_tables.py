"""What LaTeX commands and mathematical characters say, as tokens; data for `normal_form.py`."""

from __future__ import annotations


def split(names: str) -> frozenset[str]:
    """The names of a text that are set apart by blanks."""
    return frozenset(names.split())


BLACKBOARD = frozenset("NZQRCPF")
"""Letters that name sets of numbers when they are set in blackboard bold (or bold)."""

NAMES = split(
    "arccos arcsin arctan cos cosh cot csc deg det dim exp gcd inf ker lcm lg lim liminf limsup ln log max min mod ord "
    "rad sec sgn sin sinh sqrt sup tan tanh"
)
"""Functions that are one word in formulas, with or without a backslash."""

# Commands that change only how things look: left out.
_LOOKS = (
    "left right middle big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm limits nolimits "
    "displaystyle textstyle scriptstyle quad qquad enspace thinspace medspace thickspace noindent indent newline "
    "smallskip medskip bigskip par item centering mathstrut strut allowbreak hfill vfill nonumber notag bf it rm sf tt "
    "em large Large small normalsize protect relax hline"
)
LOOKS = split(_LOOKS)

# Commands whose argument stands for itself.
PROSE = split(
    "text textrm textbf textit textsf texttt textsc textnormal textup emph mbox hbox underline"
)  # its argument is prose, also in a formula
FONTS = split("mathbf mathit mathsf mathtt boldsymbol bm pmb mathbb Bbb mathrm operatorname rm")
SCRIPTS = split("mathcal mathfrak mathscr")
SKIPPED = split("hspace vspace label tag phantom hphantom vphantom hskip vskip ref cite color")
"""Commands whose argument says nothing of the problem."""
ONE_ARGUMENT = FONTS | SCRIPTS | SKIPPED | {"sqrt", "pmod", "pod"}

TWO_ARGUMENTS = {
    **dict.fromkeys(split("frac dfrac tfrac cfrac nicefrac sfrac"), "frac"),
    **dict.fromkeys(split("binom dbinom tbinom"), "binom"),
    "root": "root",  # the index of a root, then what is under it
}

MATH_ENVIRONMENTS = split(
    "math displaymath equation align gather multline eqnarray alignat flalign aligned gathered split"
)

GREEK = split(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega ell"
)
"""Greek letters that name variables; pi is left to be the number."""
GREEK_SAME = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho"}

# Commands that are the same symbol under several names. A command that stands nowhere here is a token of its own name.
SYMBOLS = {
    "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "geqq": ">=",
    "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "to": "->", "rightarrow": "->", "longrightarrow": "->",
    "mapsto": "|->", "longmapsto": "|->", "Rightarrow": "=>", "implies": "=>", "Longrightarrow": "=>",
    "iff": "<=>", "Leftrightarrow": "<=>", "Longleftrightarrow": "<=>", "cdot": "*", "times": "*", "ast": "*",
    "div": "/", "dots": "...", "ldots": "...", "cdots": "...", "dotsc": "...", "dotsb": "...", "vdots": "...",
    "mid": "|", "vert": "|", "lvert": "|", "rvert": "|", "divides": "|", "Vert": "||", "lVert": "||", "rVert": "||",
    "nmid": "notdivides", "parallel": "||", "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]",
    "setminus": "setminus", "smallsetminus": "setminus", "backslash": "setminus", "emptyset": "emptyset",
    "varnothing": "emptyset", "colon": "", "bmod": "mod", "degree": "circ", "land": "and", "wedge": "and", "lor": "or",
    "vee": "or", "lnot": "neg", "subset": "subset", "subseteq": "subseteq", "prime": "'", "doteq": "=",
    "measuredangle": "angle", "bigtriangleup": "triangle", "vartriangle": "triangle", "langle": "langle",
    "ensuremath": "", "dagger": "dagger", "infinity": "infty",
}  # fmt: skip

# Characters as LaTeX, before anything else is read. A blank ends a command.
_UNICODE = {
    "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "→": r"\to ", "⟶": r"\to ", "↦": r"\mapsto ",
    "⇒": r"\implies ", "⟹": r"\implies ", "⇔": r"\iff ", "⟺": r"\iff ", "⋅": r"\cdot ", "·": r"\cdot ", "×": r"\times ",
    "∗": "*", "÷": "/", "⁄": "/", "…": "...", "⋯": "...", "∣": "|", "∥": r"\parallel ", "∤": r"\nmid ",
    "∈": r"\in ", "∉": r"\notin ", "⊂": r"\subset ", "⊆": r"\subseteq ", "∪": r"\cup ", "∩": r"\cap ",
    "∅": r"\emptyset ", "∖": r"\setminus ", "∞": r"\infty ", "±": r"\pm ", "∓": r"\mp ", "∘": r"\circ ",
    "°": r"^\circ ",
    "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "√": r"\sqrt ", "∠": r"\angle ", "△": r"\triangle ", "⊥": r"\perp ",
    "≡": r"\equiv ", "≅": r"\cong ", "∼": r"\sim ", "≈": r"\approx ", "∀": r"\forall ", "∃": r"\exists ",
    "∧": r"\land ", "∨": r"\lor ", "¬": r"\neg ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "′": "'", "’": "'", "‘": "'", "″": "''", "−": "-", "–": "-", "—": "-", "‐": "-",
    "‑": "-", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}", "ℝ": r"\mathbb{R}", "ℂ": r"\mathbb{C}",
    "ℙ": r"\mathbb{P}", "ℓ": r"\ell ", "π": r"\pi ", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
    "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}",
}  # fmt: skip
_LETTERS = "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΥΦΨΩ"
_LETTER_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega"
)
_UNSEEN = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"  # soft hyphen, joiners, marks of direction
_SUPERSCRIPTS, _SUBSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ", "₀₁₂₃₄₅₆₇₈₉ₙ"

CHARACTERS = str.maketrans(
    _UNICODE
    | dict.fromkeys(_UNSEEN, "")
    | {letter: f"\\{name} " for letter, name in zip(_LETTERS, _LETTER_NAMES.split(), strict=True)}
)
RAISED = str.maketrans(dict(zip(_SUPERSCRIPTS, "0123456789n", strict=True)))
LOWERED = str.maketrans(dict(zip(_SUBSCRIPTS, "0123456789n", strict=True)))
RAISED_CLASS, LOWERED_CLASS = f"[{_SUPERSCRIPTS}]", f"[{_SUBSCRIPTS}]"
