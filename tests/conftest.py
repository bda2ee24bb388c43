"""What all tests share: shapes checked at every call, and the devices that are at hand."""

from pathlib import Path

import jaxtyping
import pytest
import torch

LIBRARY = Path(__file__).parents[1] / "transformer_lib"
MODULES = [f"transformer_lib.{path.stem}" for path in LIBRARY.glob("*.py") if path.stem != "__init__"]

# Every call of the library under pytest has its shape annotations checked by beartype.
jaxtyping.install_import_hook(MODULES, "beartype.beartype")

torch.set_num_threads(1)  # tensors here are small: waiting for a second thread takes longer than it saves

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


@pytest.fixture(params=DEVICES)
def device(request) -> torch.device:
    return torch.device(request.param)


@pytest.fixture(autouse=True, scope="session")
def _no_trace_in_the_home_folder(tmp_path_factory):
    """Kernels that tests start note passed exercises here, not in the progress of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSFORMER_LIB_PROGRESS", str(tmp_path_factory.mktemp("progress") / "progress.jsonl"))
        yield


@pytest.fixture(autouse=True)
def _same_random_numbers():
    torch.manual_seed(0)
