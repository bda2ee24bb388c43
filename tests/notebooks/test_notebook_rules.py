"""What an author must mend: syntax that not every reader shows, magics, widgets, exercises out of place."""

import notebook_rules as rules
import notebooks
import pytest
import repository
from nbformat.v4 import new_code_cell
from sample_chapters import EXERCISES, chapter, place

HOME = repository.Repository("some-one", "the-book", "main", "1.2.3")


def lint(folder, notebook, fix=True):
    fixed = notebooks.fix(notebook, "02_two.ipynb", HOME, EXERCISES) if fix else notebook
    return rules.lint(fixed, folder / "02_two.ipynb", EXERCISES)


MARKDOWN = {
    "a directive": ["```{note}\nHello\n```", "~~~{tip}\n~~~", ":::\nHello\n:::", "::::{grid}\n::::"],
    "a role": ["See {ref}`here`.", "{cite:p}`vaswani2017`", "{doc}`a <b>`"],
    "a target": ["(my-label)=\n## Title"],
    "a block break": ["One\n\n+++\n\nTwo"],
    "a comment": ["% not shown"],
    "a substitution": ["Version {{ version }}"],
    "attributes in braces": ["## Title {#here}", "[text]{.red}", "$$x$$ (eq:one)"],
    "shows a picture": ["![A heat map](heat.png)", '<img src="a.png">', "![x](https://example.org/x.png)"],
    "has <script>": ["<script>alert(1)</script>"],
    "by HTML": ['<a href="06_masking.ipynb#exercise-6-7">6.7</a>'],
    "links to 09_none.ipynb": ["[later](09_none.ipynb#part)"],
    "headings of the first level": ["# Another title"],
}


@pytest.mark.parametrize(("words", "text"), [(words, text) for words in MARKDOWN for text in MARKDOWN[words]])
def test_syntax_that_not_every_reader_shows_is_refused(tmp_path, words, text):
    found = lint(tmp_path, chapter(text))
    assert len(found) == 1, found
    assert words in found[0]


@pytest.mark.parametrize(
    "text",
    [
        "Softmax $\\operatorname{softmax}_j(q_i^\\top k_j)$ of $$\\frac{1}{\\sqrt{d_k}} {#1}$$.",
        "From $d_{k}$`x` on.",
        "```python\n# a comment, not a title\n{ref}`x`\n+++\n% no\n```\n\nText: `{ref}` and `a {.b}`.",
        "<details><summary>Answer</summary>\n\nIt is 7.\n\n</details>",
        "| a | b |\n|---|---|\n| 100 % | {1, 2} |",
        "A set {a, b} costs $5, and {7} more; see [the lecture](https://example.org) (page 3).",
        "```\n::: {not} MyST\n:::\n```\n\n1. One\n2. Two",
    ],
)
def test_plain_markdown_is_left_alone(tmp_path, text):
    assert lint(tmp_path, chapter(text)) == []


def test_a_link_to_a_chapter_that_exists_is_fine(tmp_path):
    (tmp_path / "03_three.ipynb").touch()
    assert lint(tmp_path, chapter("[next](03_three.ipynb#part) and [here](#two)")) == []


def test_an_id_stands_once(tmp_path):
    assert lint(tmp_path, chapter('<a id="one"></a>', '<a id="two"></a> `<a id="one">`')) == []
    (found,) = lint(tmp_path, chapter('<a id="one"></a>\n\nText', 'Text <span id="one"></span>'))
    assert "'one' stands 2 times" in found


CODE = {
    "uses %time": ["%time x = 1", "x = %time 1"],
    "uses %unknown": ["if True:\n    %unknown y"],
    "uses %%bash": ["%%bash\nls"],
    "uses !ls": ["!ls", "files = !ls"],
    "uses %pip": ["%pip install x"],
    "imports ipywidgets": [
        "import ipywidgets as w",
        "from ipywidgets import IntSlider",
        "def f():\n    import ipywidgets",
    ],
    "calls interact": ["@interact(x=3)\ndef f(x): ...", "interact(f, x=3)"],
    "calls plt.show": ["plt.show()"],
    "is not valid Python": ["def f(:\n    pass"],
    "has an NBVAL comment": ["# NBVAL_SKIP\nx = 1"],
}


@pytest.mark.parametrize(("words", "code"), [(words, code) for words in CODE for code in CODE[words]])
def test_code_that_does_not_run_everywhere_is_refused(tmp_path, words, code):
    found = lint(tmp_path, chapter(new_code_cell(code)))
    assert len(found) == 1, found
    assert words in found[0]


@pytest.mark.parametrize(
    "code", ["x = 7 % 2", "explore(draw, alt='…', d=[1, 2])", "'%time'", "x != y", "f'{x!r}'"]
)
def test_ordinary_code_is_left_alone(tmp_path, code):
    assert lint(tmp_path, chapter(new_code_cell(code))) == []


def test_tags_and_compared_cells(tmp_path):
    compared = new_code_cell("1 + 1", metadata={"tags": ["nbval-check-output"]})
    assert "holds no output" in lint(tmp_path, chapter(compared))[0]
    skipped = new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]})
    assert "has the tag 'raises-exception'" in lint(tmp_path, chapter(skipped))[0]


def test_exercises_stand_once_and_in_order(tmp_path):
    notebook = chapter()
    title, first, second = notebook.cells
    for words, cells in {
        "exercise 2.2 is missing": [first],
        "stand in the order 2.2, 2.1; wanted is 2.1, 2.2": [second, first],
        "exercise 1.1 is not one of this chapter's": [first, second, place("1.1")],
        "exercise 2.9 is not one of this chapter's": [first, second, place("2.9")],
    }.items():
        notebook.cells = [title, *cells]
        assert words in " ".join(lint(tmp_path, notebook)), words
    doubled = notebooks.fix(chapter(), "02_two.ipynb", HOME, EXERCISES)
    doubled.cells.append(doubled.cells[-1])
    assert "exercise 2.2 stands 2 times" in lint(tmp_path, doubled, fix=False)


def test_a_page_begins_with_its_title(tmp_path):
    notebook = chapter()
    notebook.cells[0].source = "Hello"
    assert "must begin with '# Title'" in lint(tmp_path, notebook)[0]
