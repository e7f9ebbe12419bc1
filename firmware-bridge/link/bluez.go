package link

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// BlueZ's names (bluez doc/org.bluez.*.rst).
const (
	busName      = "org.bluez"
	root         = dbus.ObjectPath("/org/bluez")
	adapterIface = "org.bluez.Adapter1"
	deviceIface  = "org.bluez.Device1"
	charIface    = "org.bluez.GattCharacteristic1"
	// BlueZ hides the battery's characteristic, and has this interface instead.
	batteryIface = "org.bluez.Battery1"
	batteryChar  = "00002a19-0000-1000-8000-00805f9b34fb"

	propsIface   = "org.freedesktop.DBus.Properties"
	propsChanged = propsIface + ".PropertiesChanged"
	ifacesAdded  = "org.freedesktop.DBus.ObjectManager.InterfacesAdded"
	ownerChanged = "org.freedesktop.DBus.NameOwnerChanged"
	getManaged   = "org.freedesktop.DBus.ObjectManager.GetManagedObjects"
)

const (
	searchTime  = 30 * time.Second // duration of the discovery
	connectTime = 40 * time.Second // BlueZ itself gives up after 20 to 40 s
	partingTime = 5 * time.Second
)

// BlueZ connects to one device through bluetoothd, over D-Bus.
type BlueZ struct {
	Device string        // address (D0:…) or name
	Bus    string        // D-Bus address; empty: the system bus
	Search time.Duration // how long to look for an unknown device; 0: 30 s
}

// objects are BlueZ's objects: by path, by interface, properties.
type objects map[dbus.ObjectPath]map[string]map[string]dbus.Variant

// Connect finds the device, connects, and waits until its services are known. The errors include
// ErrNotFound and ErrNoBluetooth.
func (b *BlueZ) Connect(ctx context.Context) (Device, error) {
	d, err := b.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", b.Device, err)
	}
	return d, nil
}

func (b *BlueZ) connect(ctx context.Context) (_ *bluezDevice, err error) {
	d, err := b.listen(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = d.bus.Close() // the error that counts is returned already
		}
	}()
	if d.path, err = b.find(ctx, d); err != nil {
		return nil, err
	}
	if err := d.resolve(ctx); err != nil {
		d.disconnect()
		return nil, err
	}
	go d.pump()
	return d, nil
}

// listen subscribes to BlueZ's signals, for a device that is not known yet.
func (b *BlueZ) listen(ctx context.Context) (_ *bluezDevice, err error) {
	// Signals must stay in order, and none may be dropped.
	order := dbus.WithSignalHandler(dbus.NewSequentialSignalHandler())
	var bus *dbus.Conn
	if b.Bus == "" {
		bus, err = dbus.ConnectSystemBus(order)
	} else {
		bus, err = dbus.Connect(b.Bus, order)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: D-Bus: %v", ErrNoBluetooth, err)
	}
	d := &bluezDevice{
		bus: bus, signals: make(chan *dbus.Signal, 64), stop: make(chan struct{}), gone: make(chan struct{}),
		out: make(chan Notification, 64), wanted: map[dbus.ObjectPath]string{},
	}
	defer func() {
		if err != nil {
			_ = bus.Close() // the error that counts is returned already
		}
	}()
	bus.Signal(d.signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender(busName), dbus.WithMatchInterface(propsIface), dbus.WithMatchPathNamespace(root)},
		{dbus.WithMatchSender(busName), dbus.WithMatchMember("InterfacesAdded")},
		{dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, busName)},
	} {
		if err := bus.AddMatchSignalContext(ctx, match...); err != nil {
			return nil, fmt.Errorf("listen to BlueZ: %w", err)
		}
	}
	return d, nil
}

// discover makes an adapter look for devices until stop is called.
func (d *bluezDevice) discover(ctx context.Context, adapter dbus.ObjectPath) (stop func(), err error) {
	radio := d.bus.Object(busName, adapter)
	filter := map[string]any{"Transport": "le"}
	if err := radio.CallWithContext(ctx, adapterIface+".SetDiscoveryFilter", 0, filter).Err; err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if err := radio.CallWithContext(ctx, adapterIface+".StartDiscovery", 0).Err; err != nil && !is(err, "InProgress") {
		return nil, fmt.Errorf("search: %w", err)
	}
	return func() {
		// BlueZ also ends it when the connection ends.
		radio.Call(adapterIface+".StopDiscovery", dbus.FlagNoReplyExpected)
	}, nil
}

// find returns the device's path, after a search if BlueZ does not know it.
func (b *BlueZ) find(ctx context.Context, d *bluezDevice) (dbus.ObjectPath, error) {
	all, err := d.objects(ctx)
	if err != nil {
		return "", err
	}
	adapter, err := usable(all)
	if err != nil {
		return "", err
	}
	if path, err := b.among(all); path != "" || err != nil {
		return path, err
	}
	limit := b.Search
	if limit <= 0 {
		limit = searchTime
	}
	search, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop, err := d.discover(search, adapter)
	if err != nil {
		return "", err
	}
	defer stop()
	for {
		// All objects are read again each time: the signal of an added one says little, and names
		// come late.
		if all, err = d.objects(search); err == nil {
			if path, err := b.among(all); path != "" || err != nil {
				return path, err
			}
			err = d.signal(search, func(s *dbus.Signal) bool { return s.Name == ifacesAdded || s.Name == propsChanged })
		}
		if err != nil {
			if search.Err() != nil && ctx.Err() == nil {
				return "", ErrNotFound
			}
			return "", err
		}
	}
}

// usable is the first adapter that is on.
func usable(all objects) (dbus.ObjectPath, error) {
	var on, off []dbus.ObjectPath
	for path, ifaces := range all {
		if a, ok := ifaces[adapterIface]; ok {
			if powered, _ := a["Powered"].Value().(bool); powered {
				on = append(on, path)
			} else {
				off = append(off, path)
			}
		}
	}
	switch {
	case len(on) > 0:
		return slices.Min(on), nil
	case len(off) > 0:
		return "", fmt.Errorf("%w: the adapter %s is off", ErrNoBluetooth, strings.TrimPrefix(string(slices.Min(off)), string(root)+"/"))
	}
	return "", fmt.Errorf("%w: no adapter", ErrNoBluetooth)
}

// among finds the device by address, or by a name that only one device has.
func (b *BlueZ) among(all objects) (dbus.ObjectPath, error) {
	var named []dbus.ObjectPath
	for path, ifaces := range all {
		p, ok := ifaces[deviceIface]
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := p[key].Value().(string); return s }
		if strings.EqualFold(text("Address"), b.Device) {
			return path, nil
		}
		if text("Name") == b.Device || text("Alias") == b.Device {
			named = append(named, path)
		}
	}
	switch len(named) {
	case 0:
		return "", nil
	case 1:
		return named[0], nil
	}
	return "", fmt.Errorf("%d devices have this name: give an address", len(named))
}

// is recognises BlueZ's own errors by name.
func is(err error, name string) bool {
	e, ok := errors.AsType[dbus.Error](err)
	return ok && e.Name == "org.bluez.Error."+name
}
