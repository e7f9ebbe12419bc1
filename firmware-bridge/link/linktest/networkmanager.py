"""python-dbusmock's own template of NetworkManager, which says when it is ready."""

from dbusmock.templates import networkmanager as real

BUS_NAME = real.BUS_NAME
MAIN_OBJ = real.MAIN_OBJ
MAIN_IFACE = real.MANAGER_IFACE
SYSTEM_BUS = True


def load(mock, parameters):
    real.load(mock, parameters)
    print('ready', flush=True)
