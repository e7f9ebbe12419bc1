package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// bluezDevice is a connection to a device, with its own bus connection.
type bluezDevice struct {
	bus     *dbus.Conn
	path    dbus.ObjectPath
	chars   map[string]dbus.ObjectPath // by UUID; constant once it is connected
	mtu     int
	signals chan *dbus.Signal
	out     chan Notification
	stop    chan struct{}
	gone    chan struct{} // closed when pump has ended
	once    sync.Once

	mu     sync.Mutex
	wanted map[dbus.ObjectPath]string // subscribed characteristics: UUID by path
	err    error
}

func (d *bluezDevice) objects(ctx context.Context) (objects, error) {
	var all objects
	err := d.bus.Object(busName, "/").CallWithContext(ctx, getManaged, 0).Store(&all)
	if e, ok := errors.AsType[dbus.Error](err); ok && (e.Name == "org.freedesktop.DBus.Error.ServiceUnknown" || e.Name == "org.freedesktop.DBus.Error.NameHasNoOwner") {
		return nil, fmt.Errorf("%w: bluetoothd does not run", ErrNoBluetooth)
	}
	if err != nil {
		return nil, fmt.Errorf("ask BlueZ what there is: %w", err)
	}
	return all, nil
}

// signal waits for a signal for which match returns true. It is only used before pump runs.
func (d *bluezDevice) signal(ctx context.Context, match func(*dbus.Signal) bool) error {
	for {
		select {
		case s, ok := <-d.signals:
			if !ok {
				return fmt.Errorf("%w: D-Bus closed", ErrLost)
			}
			if match(s) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// resolve connects, and finds out the device's characteristics.
func (d *bluezDevice) resolve(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	dev := d.bus.Object(busName, d.path)
	if err := dev.CallWithContext(ctx, deviceIface+".Connect", 0).Err; err != nil && !is(err, "AlreadyConnected") {
		return err
	}
	for {
		var props map[string]dbus.Variant
		if err := dev.CallWithContext(ctx, propsIface+".GetAll", 0, deviceIface).Store(&props); err != nil {
			return fmt.Errorf("ask for its state: %w", err)
		}
		if up, _ := props["Connected"].Value().(bool); !up {
			return ErrLost
		}
		if done, _ := props["ServicesResolved"].Value().(bool); done {
			break
		}
		if err := d.signal(ctx, func(s *dbus.Signal) bool { return s.Path == d.path && s.Name == propsChanged }); err != nil {
			return fmt.Errorf("wait for its services: %w", err)
		}
	}
	all, err := d.objects(ctx)
	if err != nil {
		return err
	}
	d.chars = map[string]dbus.ObjectPath{}
	for path, ifaces := range all {
		p, ok := ifaces[charIface]
		if !ok || !strings.HasPrefix(string(path), string(d.path)+"/") {
			continue
		}
		uuid, _ := p["UUID"].Value().(string)
		d.chars[strings.ToLower(uuid)] = path
		if mtu, _ := p["MTU"].Value().(uint16); int(mtu) > d.mtu {
			d.mtu = int(mtu)
		}
	}
	if _, ok := all[d.path][batteryIface]; ok && d.chars[batteryChar] == "" {
		d.chars[batteryChar] = d.path
	}
	return nil
}

// pump turns signals into notifications until the connection ends.
func (d *bluezDevice) pump() {
	defer close(d.gone)
	defer close(d.out)
	for {
		var s *dbus.Signal
		var ok bool
		select {
		case s, ok = <-d.signals:
		case <-d.stop:
			return
		}
		if !ok {
			d.fail(fmt.Errorf("%w: D-Bus closed", ErrLost))
			return
		}
		n, err := d.read(s)
		if err != nil {
			d.fail(err)
			return
		}
		if n == nil {
			continue
		}
		select {
		case d.out <- *n:
		case <-d.stop:
			return
		}
	}
}

func (d *bluezDevice) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// read handles one signal: a notification, the connection's end, or neither.
func (d *bluezDevice) read(s *dbus.Signal) (*Notification, error) {
	if s.Name == ownerChanged && len(s.Body) == 3 && s.Body[0] == busName {
		return nil, fmt.Errorf("%w: bluetoothd ended", ErrLost)
	}
	if s.Name != propsChanged || len(s.Body) < 2 {
		return nil, nil
	}
	iface, _ := s.Body[0].(string)
	props, _ := s.Body[1].(map[string]dbus.Variant)
	if s.Path == d.path && iface == deviceIface {
		if v, ok := props["Connected"]; ok && v.Value() == false {
			return nil, ErrLost
		}
	}
	d.mu.Lock()
	char, wanted := d.wanted[s.Path]
	d.mu.Unlock()
	if !wanted {
		return nil, nil
	}
	switch iface {
	case charIface:
		if b, ok := props["Value"].Value().([]byte); ok {
			return &Notification{At: time.Now(), Char: char, Data: b}, nil
		}
	case batteryIface:
		if level, ok := props["Percentage"].Value().(byte); ok {
			return &Notification{At: time.Now(), Char: char, Data: []byte{level}}, nil
		}
	}
	return nil, nil
}

func (d *bluezDevice) MTU() int                           { return d.mtu }
func (d *bluezDevice) Notifications() <-chan Notification { return d.out }

func (d *bluezDevice) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *bluezDevice) Read(ctx context.Context, char string) ([]byte, error) {
	path, ok := d.chars[char]
	if !ok {
		return nil, absent(char)
	}
	if path == d.path {
		var v dbus.Variant
		if err := d.bus.Object(busName, path).CallWithContext(ctx, propsIface+".Get", 0, batteryIface, "Percentage").Store(&v); err != nil {
			return nil, fmt.Errorf("read %s: %w", char, err)
		}
		level, _ := v.Value().(byte)
		return []byte{level}, nil
	}
	var b []byte
	err := d.bus.Object(busName, path).CallWithContext(ctx, charIface+".ReadValue", 0, map[string]dbus.Variant{}).Store(&b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", char, err)
	}
	return b, nil
}

func (d *bluezDevice) Write(ctx context.Context, char string, value []byte) error {
	path, ok := d.chars[char]
	if !ok || path == d.path {
		return absent(char)
	}
	err := d.bus.Object(busName, path).CallWithContext(ctx, charIface+".WriteValue", 0, value, map[string]dbus.Variant{}).Err
	if err != nil {
		return fmt.Errorf("write %s: %w", char, err)
	}
	return nil
}

func (d *bluezDevice) Subscribe(ctx context.Context, char string) error {
	path, ok := d.chars[char]
	if !ok {
		return absent(char)
	}
	d.mu.Lock()
	d.wanted[path] = char // set before, because the first one may come with the answer
	d.mu.Unlock()
	if path == d.path {
		return nil
	}
	if err := d.bus.Object(busName, path).CallWithContext(ctx, charIface+".StartNotify", 0).Err; err != nil {
		return fmt.Errorf("subscribe to %s: %w", char, err)
	}
	return nil
}

// disconnect tells BlueZ to disconnect, if it still answers.
func (d *bluezDevice) disconnect() {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	d.bus.Object(busName, d.path).CallWithContext(ctx, deviceIface+".Disconnect", 0)
}

func (d *bluezDevice) Close() (err error) {
	d.once.Do(func() {
		close(d.stop)
		<-d.gone
		d.disconnect()
		err = d.bus.Close()
	})
	return err
}
