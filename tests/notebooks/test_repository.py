"""The repository's address: one home, rewritten everywhere by one command, and every disagreement seen."""

import agreement
import nbformat
import notebooks
import pytest
import repository
from sample_chapters import EXERCISES, chapter

NEW = "https://github.com/new-owner/another.book"


@pytest.fixture
def book(project):
    """The project in miniature with a chapter, a README and metadata that all agree."""
    home = repository.read(project)
    path = project / "book" / "02_two.ipynb"
    path.write_text(notebooks.text_of(notebooks.fix(chapter(), path.name, home, EXERCISES)), encoding="utf-8")
    (project / "README.md").write_text(
        f"# The book\n\n{home.badge('02_two.ipynb')}\n\n    git clone {home.url}.git\n\n"
        "Read it at https://some-one.github.io/the-book/, or [its code](https://github.com/some-one/the-book).\n"
        "Not ours: https://github.com/some-one/the-book-of-others and https://github.com/other/thing.\n"
    )
    (project / "CITATION.cff").write_text(f'repository-code: "{home.url}"\nversion: 1.2.3\n')
    with (project / "pyproject.toml").open("a") as file:
        file.write(
            f'[project.urls]\nRepository = "{home.url}"\nSsh = "git@github.com:some-one/the-book.git"\n'
        )
    return project


def test_the_real_files_agree():
    assert agreement.disagreements(repository.ROOT) == []


def test_the_address_is_read_from_its_home(project):
    home = repository.read(project)
    assert home == repository.Repository("some-one", "the-book", "main", "1.2.3")
    assert home.url == "https://github.com/some-one/the-book"
    assert home.requirement.endswith("git+https://github.com/some-one/the-book@v1.2.3")


def test_one_command_rewrites_every_file(book):
    assert agreement.disagreements(book) == []
    changed = {path.name for path in repository.rewrite(NEW + ".git", book)}
    assert changed == {"_config.yml", "02_two.ipynb", "README.md", "CITATION.cff", "pyproject.toml"}
    assert agreement.disagreements(book) == []
    assert repository.read(book).url == NEW
    config = (book / "_config.yml").read_text()
    assert "# the address has a comment that stays" in config
    assert f"url: {NEW}  # here" in config
    readme = (book / "README.md").read_text()
    assert f"git clone {NEW}.git" in readme
    assert "https://new-owner.github.io/another.book/" in readme
    assert "https://github.com/some-one/the-book-of-others and https://github.com/other/thing." in readme
    assert "git@github.com:new-owner/another.book.git" in (book / "pyproject.toml").read_text()
    path = book / "book" / "02_two.ipynb"
    assert notebooks.check(path, repository.read(book), EXERCISES) == []
    nbformat.validate(notebooks.read(path))


def test_there_and_back_again_leaves_every_byte(book):
    before = {path: path.read_bytes() for path in repository.text_files(book)}
    repository.rewrite("https://github.com/a/b", book)
    (book / "notes.md").write_text("The fraction a/b is not the address a/b.\n")
    repository.rewrite("https://github.com/some-one/the-book", book)
    assert {path: path.read_bytes() for path in before} == before
    assert "a/b is not the address a/b" in (book / "notes.md").read_text()


DISAGREEMENTS = {
    "names old/the-book": (
        "README.md",
        "git clone https://github.com/some-one",
        "git clone https://github.com/old",
    ),
    "has no Colab badge": ("README.md", "blob/main/book/02_two", "blob/main/book/02_too"),
    "opens book/02_too.ipynb": ("README.md", "blob/main/book/02_two", "blob/main/book/02_too"),
    "opens branch master": ("book/02_two.ipynb", "blob/main/", "blob/master/"),
    "02_two.ipynb, line": ("book/02_two.ipynb", "github/some-one/the-book", "github/some-one/a-book"),
    "installs v1.2.3, pyproject.toml has version 1.3.0": ("pyproject.toml", "1.2.3", "1.3.0"),
    "CITATION.cff, line 1: names old/the-book": ("CITATION.cff", "some-one", "old"),
    "CITATION.cff: names version 1.0.0": ("CITATION.cff", "1.2.3", "1.0.0"),
    "pyproject.toml, line": (
        "pyproject.toml",
        'Repository = "https://github.com/some-one',
        'R = "https://github.com/x',
    ),
    "launch_buttons.colab_url": ("_config.yml", "colab_url", "binderhub_url"),
    "repository.branch is missing": ("_config.yml", "branch: main", "depth: 1"),
    "path_to_book": ("_config.yml", 'path_to_book: ""', "path_to_book: book"),
    "write repository.url as": ("_config.yml", "the-book  #", "the-book/  #"),
}


@pytest.mark.parametrize("words", DISAGREEMENTS)
def test_every_disagreement_is_seen(book, words):
    name, old, new = DISAGREEMENTS[words]
    text = (book / name).read_text(encoding="utf-8")
    assert old in text
    (book / name).write_text(text.replace(old, new), encoding="utf-8")
    found = agreement.disagreements(book)
    assert any(words in line for line in found), found


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/a/b",
        "https://github.com/a/b/",
        "http://www.github.com/a/b.git",
        "git@github.com:a/b.git",
    ],
)
def test_every_spelling_of_an_address_is_read(address):
    assert repository.parse(address) == ("a", "b")


BAD = ["", "a/b", "https://gitlab.com/a/b", "github.com/-/b", "https://github.com/a/b c"]
BAD += [f"https://github.com/{rest}" for rest in ("a", "a/b/tree/main", "a/..", "$(id)/b")]


@pytest.mark.parametrize("address", BAD)
def test_a_bad_address_is_refused_in_one_clear_sentence(book, address, capsys):
    assert repository.main([address], book) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"'{address}' is not the address of a repository on GitHub")
    assert "https://github.com/OWNER/NAME" in said
    assert repository.read(book).url == "https://github.com/some-one/the-book"


def test_the_command_says_what_it_changed(book, capsys):
    assert repository.main([NEW], book) == 0
    said = capsys.readouterr().out
    assert f"The repository is {NEW} now; 5 files changed." in said
    assert "book/02_two.ipynb" in said
    assert repository.main([], book) == 0
    (book / "CITATION.cff").write_text("repository-code: https://github.com/old/another.book\n")
    assert repository.main([], book) == 1
    (book / "_config.yml").unlink()
    assert repository.main([], book) == 2
    assert "no _config.yml" in capsys.readouterr().err
