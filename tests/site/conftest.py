"""One browser for all tests of the built book, the book served on localhost, and each page opened once."""

import built_book
import chromium
import pytest
from verdict import none


def pytest_generate_tests(metafunc):
    """A test that asks for `name` runs on every page; all tests of a page follow one another."""
    if "name" in metafunc.fixturenames:
        names = built_book.pages() or [pytest.param(None, id="not-built")]
        metafunc.parametrize("name", names, scope="session")


def present(find):
    """What `find` finds; a test that lacks it fails with the one sentence that says what to do."""
    missing = None
    try:
        return find()
    except FileNotFoundError as error:
        missing = str(error)
    return pytest.fail(missing, pytrace=False)


@pytest.fixture(scope="session")
def browser():
    present(chromium.browser_path)
    with chromium.started() as running:
        yield running


@pytest.fixture(scope="session")
def site():
    """The address of the built book."""
    if not built_book.pages():
        pytest.fail(built_book.NOT_BUILT, pytrace=False)
    with chromium.served(built_book.HTML) as address:
        yield address


@pytest.fixture(scope="session")
def axe_script():
    return present(built_book.axe_script)


@pytest.fixture(scope="session")
def opened(browser, site, name):
    """The page `name` of the book, opened once for all tests on it."""
    visit = chromium.Visit(browser, f"{site}/{name}.html")
    yield visit
    visit.close()


@pytest.fixture
def visit(opened):
    """The open page; whatever goes wrong in it during a test counts as a failure of that test."""
    before = len(opened.faults)
    yield opened
    none(opened.faults[before:])
