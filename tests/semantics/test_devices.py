"""What a device string is used for."""

from __future__ import annotations

import pytest

from neuron_port.semantics.devices import DeviceUses, Role, like_backend, like_device
from tests.semantics.build import module


def use(source: str, number: int = 0):
    model = module(source)
    return DeviceUses(model).use(model.found.strings[number])


@pytest.mark.parametrize(
    ("source", "role", "sure", "evidence"),
    [
        ("import torch\ntorch.device('cuda')", Role.DEVICE, True, "argument of device()"),
        ("import torch\ntorch.zeros(3, device='cuda')", Role.DEVICE, True, "keyword device= of zeros()"),
        ("x.to('cuda')", Role.DEVICE, True, "argument of .to()"),
        ("x.to(device='cuda')", Role.DEVICE, True, "keyword device= of to()"),
        ("load(device='cuda')", Role.DEVICE, False, "keyword device= of load()"),
        ("device = 'cuda'", Role.DEVICE, False, "assigned to device"),
        ("device = 'cuda'\nx.to(device)", Role.DEVICE, True, "assigned to device, argument of .to()"),
        ("where = 'cuda'\nx.to(where)", Role.DEVICE, True, "assigned to where, argument of .to()"),
        ("self.device = 'cuda'", Role.DEVICE, False, "assigned to .device"),
        ("import torch\ntorch.load(f, map_location='cuda')", Role.MAP_LOCATION, True, "map_location of load()"),
        ("import torch\ntorch.load(f, 'cuda')", Role.MAP_LOCATION, True, "argument of load()"),
        ("def f(device='cuda'): pass", Role.OPTION, False, "default of the parameter device"),
        (
            "def f(where='cuda'):\n    x.to(where)",
            Role.OPTION,
            False,
            "default of the parameter where, argument of .to()",
        ),
        ("p.add_argument('--device', default='cuda')", Role.OPTION, False, "default of the option --device"),
        ("import os\nos.environ.get('DEVICE', 'cuda')", Role.OPTION, False, "default of the variable DEVICE"),
        ("getattr(args, 'device', 'cuda')", Role.OPTION, False, "default of the attribute device"),
        ("if device.type == 'cuda': pass", Role.COMPARE, True, "compared with a device"),
        ("if mode == 'cuda': pass", Role.COMPARE, False, "compared"),
        ("if 'cuda' in str(device): pass", Role.COMPARE, True, "compared with a device"),
        ("device.startswith('cuda')", Role.COMPARE, True, "argument of .startswith()"),
        ("device in ('cuda', 'cpu')", Role.CHOICES, True, "a closed list of device names"),
        ("p.add_argument('--device', choices=['cpu', 'cuda'])", Role.CHOICES, True, "choices of the option --device"),
        ("{'cuda': f, 'cpu': g}", Role.KEY, False, "a dictionary key"),
        ("state['cuda']", Role.KEY, False, "a key"),
        ("from enum import Enum\nclass D(Enum):\n    CUDA = 'cuda'", Role.ENUM, False, "a member of the enumeration D"),
        ("class C:\n    device: str = 'cuda'", Role.OPTION, False, "default of the field C.device"),
        ("print('cuda')", Role.TEXT, False, "printed"),
        ("raise ValueError('cuda')", Role.TEXT, False, "text"),
        ("logger.info('cuda')", Role.TEXT, False, "text"),
        ("p.add_argument('--x', help='cuda')", Role.TEXT, False, "text"),
        ("'cuda'", Role.TEXT, False, "text"),
        ("import torch\ngetattr(torch, 'cuda')", Role.MODULE, True, "getattr() of torch"),
        ("x = 'cuda'", Role.UNKNOWN, False, "assigned to x, whose use could not be followed"),
        ("f('cuda')", Role.UNKNOWN, False, "argument of f()"),
        ("def f(d):\n    x.to(d)\nf('cuda')", Role.DEVICE, True, "argument of f(), argument of .to()"),
        ("def f():\n    return 'cuda'\nx.to(f())", Role.DEVICE, True, "returned by f, argument of .to()"),
        ("def get_device():\n    return 'cuda'", Role.DEVICE, False, "returned by get_device"),
        ("config = {'device': 'cuda'}", Role.DEVICE, False, "value of key 'device'"),
        ("x.to('cuda' if big else 'cpu')", Role.DEVICE, True, "argument of .to()"),
        ("x.to(name or 'cuda')", Role.DEVICE, True, "argument of .to()"),
        ("x.to('cuda:%d' % i)", Role.DEVICE, True, "argument of .to()"),
        ("x.to('cuda:{}'.format(i))", Role.DEVICE, True, "argument of .to()"),
        ("x.to('cuda:' + str(i))", Role.DEVICE, True, "argument of .to()"),
        ("x.to(f'cuda:{i}')", Role.DEVICE, True, "argument of .to()"),
        (
            "import torch.distributed as dist\ndist.init_process_group('nccl')",
            Role.BACKEND,
            True,
            "argument of init_process_group()",
        ),
        ("backend = 'nccl'", Role.BACKEND, False, "assigned to backend"),
    ],
)
def test_use(source: str, role: Role, sure: bool, evidence: str) -> None:
    found = use(source)
    assert (found.role, found.sure, found.evidence) == (role, sure, evidence)


def test_a_name_that_is_only_printed_is_text() -> None:
    assert use("device = 'cuda'\nprint(device)").role is Role.TEXT


def test_the_outer_expression_is_the_whole_string() -> None:
    model = module("x.to('cuda:%d' % i)")
    found = DeviceUses(model).use(model.found.strings[0])
    assert found.outer is model.tree.body[0].value.args[0]


def test_a_recursive_definition_ends() -> None:
    assert use("where = 'cuda'\nwhere = where or 'cuda'").role is Role.UNKNOWN


@pytest.mark.parametrize(
    "name",
    ["device", "DEVICE", "dev", "main_device", "torch_device", "--device", "map_location", "device_type", "devices"],
)
def test_names_of_devices(name: str) -> None:
    assert like_device(name)


@pytest.mark.parametrize("name", ["model", "developer", "mode", "device_count", "path", "deviation"])
def test_names_of_other_things(name: str) -> None:
    assert not like_device(name)


def test_names_of_backends() -> None:
    assert like_backend("dist_backend") and like_backend("--dist-backend") and not like_backend("background")
