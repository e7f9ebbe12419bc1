"""A template for python-dbusmock: org.bluez with one adapter and one Omi.

What it does is in a JSON file whose name is the parameter "scenario":

  address, name, mtu   of the device
  hidden               true: it is found by a discovery alone
  off                  true: the adapter is off
  reads                {uuid: hex} of characteristics
  notify               [{uuid: [hex, ...]}, ...] for each connection in turn: what
                       it sends once each uuid there is subscribed to; a last
                       hex of "drop" ends the connection
  percentage           level of org.bluez.Battery1, as BlueZ gives it
  ring                 {"read": n, "records": [hex, ...], "fail": m}: storage;
                       fail: the first m transfers lose a notification;
                       id: firmware with the custody contract, whose ring has this id;
                       spoil: the first transfers have a wrong checksum
  log                  file to which it writes what was asked of it, a line each
"""

import json
import struct
import zlib

import dbus
from dbusmock import OBJECT_MANAGER_IFACE, mockobject
from gi.repository import GLib

BUS_NAME = 'org.bluez'
MAIN_OBJ = '/'
SYSTEM_BUS = True
IS_OBJECT_MANAGER = True

ADAPTER = 'org.bluez.Adapter1'
DEVICE = 'org.bluez.Device1'
SERVICE = 'org.bluez.GattService1'
CHAR = 'org.bluez.GattCharacteristic1'
BATTERY = 'org.bluez.Battery1'
STORAGE = '30295781-4301-eabd-2904-2849adfeae43'
STORAGE_STATE = '30295782-4301-eabd-2904-2849adfeae43'

scenario = {}
state = {'connections': 0, 'subscribed': set(), 'by_uuid': {}}


def log(*words):
    with open(scenario['log'], 'a', encoding='utf-8') as f:
        f.write(' '.join(words) + '\n')


def device_path():
    return '/org/bluez/hci0/dev_' + scenario['address'].replace(':', '_')


def value(b):
    return dbus.Array([dbus.Byte(x) for x in b], signature='y', variant_level=1)


def send(uuid, b):
    obj = mockobject.objects[state['by_uuid'][uuid]]
    obj.EmitSignal(dbus.PROPERTIES_IFACE, 'PropertiesChanged', 'sa{sv}as', [CHAR, {'Value': value(b)}, []])


def drop():
    mockobject.objects[device_path()].UpdateProperties(DEVICE, {
        'Connected': dbus.Boolean(False, variant_level=1),
        'ServicesResolved': dbus.Boolean(False, variant_level=1),
    })


@dbus.service.method(ADAPTER, in_signature='a{sv}', out_signature='')
def SetDiscoveryFilter(_adapter, discovery_filter):
    log('filter', str(discovery_filter.get('Transport', '')))


@dbus.service.method(ADAPTER, in_signature='', out_signature='')
def StartDiscovery(_adapter):
    log('discover')
    if device_path() not in mockobject.objects:
        GLib.idle_add(add_device)


@dbus.service.method(ADAPTER, in_signature='', out_signature='')
def StopDiscovery(_adapter):
    log('discovered')


@dbus.service.method(DEVICE, in_signature='', out_signature='')
def Connect(device):
    log('connect')
    state['connections'] += 1
    state['subscribed'] = set()
    device.UpdateProperties(DEVICE, {'Connected': dbus.Boolean(True, variant_level=1)})
    # Services are known some time after the connection.
    GLib.idle_add(lambda: device.UpdateProperties(DEVICE, {'ServicesResolved': dbus.Boolean(True, variant_level=1)}))


@dbus.service.method(DEVICE, in_signature='', out_signature='')
def Disconnect(_device):
    log('disconnect')
    drop()


def uuid_of(char):
    return str(char.Get(CHAR, 'UUID'))


@dbus.service.method(CHAR, in_signature='a{sv}', out_signature='ay')
def ReadValue(char, _options):
    uuid = uuid_of(char)
    if uuid == STORAGE_STATE and 'ring' in scenario:
        unread = len(scenario['ring']['records']) - scenario['ring']['read']
        b = struct.pack('<IIII', unread * 444, unread, 1 << 20, 1)
    else:
        b = bytes.fromhex(scenario['reads'][uuid])
    send(uuid, b)  # as bluetoothd does
    return dbus.ByteArray(b)


@dbus.service.method(CHAR, in_signature='aya{sv}', out_signature='')
def WriteValue(char, data, _options):
    uuid, b = uuid_of(char), bytes(data)
    log('write', uuid, b.hex())
    if uuid == STORAGE:
        GLib.idle_add(lambda: storage(b))


@dbus.service.method(CHAR, in_signature='', out_signature='')
def StartNotify(char):
    uuid = uuid_of(char)
    log('subscribe', uuid)
    state['subscribed'].add(uuid)
    all_of_them = scenario.get('notify', [])
    n = state['connections'] - 1
    if n < len(all_of_them):
        todo = list(all_of_them[n].get(uuid, []))
        GLib.idle_add(lambda: play(uuid, todo))


def play(uuid, todo):
    for _ in range(min(len(todo), 50)):
        b = todo.pop(0)
        if b == 'drop':
            drop()
        else:
            send(uuid, bytes.fromhex(b))
    return bool(todo)


def storage(b):
    """Firmware 3.0.20's side of docs/devices.md."""
    ring = scenario['ring']
    first, end = ring['read'], len(ring['records'])
    if b[0] == 0x10:
        info = struct.pack('>BQQIQH', 2, first, end, 4096, ring.get('dropped', 0), 444)
        if ring.get('id'):  # custody v1
            info += struct.pack('>BBQ', 0x0f, 1, ring['id'])
        send(STORAGE, info)
    elif b[0] == 0x11:
        start = struct.unpack('>Q', b[1:9])[0]
        count = struct.unpack('>I', b[9:13])[0] if len(b) == 13 else 0
        if start < first or start > end:
            send(STORAGE, bytes([1, 10]))
            return False
        count = min(count or end - start, end - start)
        send(STORAGE, struct.pack('>BQI', 5, start, count))
        todo = bytes.fromhex(''.join(ring['records'][start:start + count]))
        size = scenario['mtu'] - 4
        chunks = [todo[i:i + size] for i in range(0, len(todo), size)]
        if ring.get('fail', 0) > 0:
            ring['fail'] -= 1
            chunks.pop(len(chunks) // 2)
        for chunk in chunks:
            send(STORAGE, b'\x03' + chunk)
        done = struct.pack('>BBQ', 4, 0, start + count)
        if ring.get('id'):
            sum = zlib.crc32(todo)
            if ring.get('spoil', 0) > 0:
                ring['spoil'] -= 1
                sum ^= 1
            done += struct.pack('>I', sum)
        send(STORAGE, done)
    elif b[0] == 0x12 and ring.get('id'):
        send(STORAGE, bytes([1, 6]))  # stricter than the firmware: the bridge is to name the ring
    elif b[0] in (0x12, 0x15):
        if b[0] == 0x15 and (len(b) != 17 or struct.unpack('>Q', b[1:9])[0] != ring.get('id')):
            send(STORAGE, bytes([1, 11 if ring.get('id') else 6]))
            return False
        to = struct.unpack('>Q', b[-8:])[0]
        if first <= to <= end:
            ring['read'] = to
            send(STORAGE, bytes([1, 0]))
        else:
            send(STORAGE, bytes([1, 10]))
    elif b[0] == 0x03:
        send(STORAGE, bytes([1, 0]))
    else:
        send(STORAGE, bytes([1, 6]))
    return False


def add_device():
    manager = state['manager']
    path = device_path()
    props = {
        'Address': dbus.String(scenario['address'], variant_level=1),
        'Name': dbus.String(scenario['name'], variant_level=1),
        'Alias': dbus.String(scenario['name'], variant_level=1),
        'Connected': dbus.Boolean(False, variant_level=1),
        'ServicesResolved': dbus.Boolean(False, variant_level=1),
        'UUIDs': dbus.Array(['19B10000-E8F2-537E-4F6C-D104768A1214'], signature='s', variant_level=1),
        'RSSI': dbus.Int16(-61, variant_level=1),
    }
    manager.AddObject(path, DEVICE, props, [
        ('Connect', '', '', Connect), ('Disconnect', '', '', Disconnect),
    ])
    if 'percentage' in scenario:
        mockobject.objects[path].AddProperties(BATTERY, {'Percentage': dbus.Byte(scenario['percentage'], variant_level=1)})
    service = path + '/service0001'
    manager.AddObject(service, SERVICE, {'UUID': dbus.String('19b10000-e8f2-537e-4f6c-d104768a1214', variant_level=1)}, [])
    uuids = set(scenario.get('reads', {})) | set(scenario.get('writes', []))
    for connection in scenario.get('notify', []):
        uuids |= set(connection)
    if 'ring' in scenario:
        uuids |= {STORAGE, STORAGE_STATE}
    for n, uuid in enumerate(sorted(uuids)):
        char = '%s/char%04x' % (service, n)
        state['by_uuid'][uuid] = char
        manager.AddObject(char, CHAR, {
            'UUID': dbus.String(uuid, variant_level=1),
            'MTU': dbus.UInt16(scenario['mtu'], variant_level=1),
        }, [
            ('ReadValue', 'a{sv}', 'ay', ReadValue), ('WriteValue', 'aya{sv}', '', WriteValue),
            ('StartNotify', '', '', StartNotify),
        ])
    manager.EmitSignal(OBJECT_MANAGER_IFACE, 'InterfacesAdded', 'oa{sa{sv}}', [dbus.ObjectPath(path), {DEVICE: props}])
    return False


def load(mock, parameters):
    state['manager'] = mock
    with open(str(parameters['scenario']), encoding='utf-8') as f:
        scenario.update(json.load(f))
    if not scenario.get('absent'):
        mock.AddObject('/org/bluez/hci0', ADAPTER, {
            'Powered': dbus.Boolean(not scenario.get('off', False), variant_level=1),
        }, [
            ('SetDiscoveryFilter', 'a{sv}', '', SetDiscoveryFilter),
            ('StartDiscovery', '', '', StartDiscovery), ('StopDiscovery', '', '', StopDiscovery),
        ])
        if not scenario.get('hidden'):
            add_device()
    print('ready', flush=True)
