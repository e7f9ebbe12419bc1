package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/intake"
)

// dialer returns the device or the capture. With --record, it also records.
func (f *deviceFlags) dialer() (_ link.Dialer, closeAll func() error, err error) {
	if f.capture != "" {
		file, err := os.Open(f.capture)
		if err != nil {
			return nil, nil, fmt.Errorf("capture: %w", err)
		}
		return link.NewCapture(file), file.Close, nil
	}
	device, name, err := f.source()
	if err != nil {
		return nil, nil, err
	}
	end := func() error { return nil }
	if s, ok := device.(*link.Sockets); ok {
		end = s.Close
	}
	if f.record == "" {
		return device, end, nil
	}
	// A recording contains a person's life. Never overwrite one.
	file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("record: %w", atomicfile.Fault(f.record, err))
	}
	rec := link.NewRecorder(device, name, file)
	return rec, func() error { return errors.Join(end(), rec.Err(), file.Close()) }, nil
}

// source returns where the devices of the family are, and the name of that in a capture.
func (f *deviceFlags) source() (link.Dialer, string, error) {
	if left, right, ok := strings.Cut(f.device, ","); ok && f.family.Pair {
		return &link.Pair{Left: &link.BlueZ{Device: left}, Right: &link.BlueZ{Device: right}}, f.device, nil
	}
	if f.family.Carrier == carry.Bluetooth {
		return &link.BlueZ{Device: f.device}, f.device, nil
	}
	switch f.family.Carrier {
	case carry.Served:
		return f.sockets()
	case carry.TCP:
		return &link.TCP{Addr: f.device, Look: findSatellite(f.device, nil)}, f.device, nil
	case carry.Screen:
		return f.screen()
	case carry.Folder:
		return &link.Folder{Dir: f.folder}, f.folder, nil
	}
	feed := intake.FeedConfig{
		URL: f.from, ClientID: "locket-bridge-" + f.name, Username: f.fromUser, Topics: f.family.Topics(&f.options),
	}
	var err error
	if f.fromPassword != "" {
		if feed.Password, err = readPassword(f.fromPassword); err != nil {
			return nil, "", err
		}
	}
	if f.fromCA != "" {
		if feed.TLS, err = intake.TLSConfig(f.fromCA, "", ""); err != nil {
			return nil, "", err
		}
	}
	return &link.MQTT{Feed: feed}, f.from, nil
}

// screen returns the screen of this session unless another is given. The X11 display of a Wayland
// session shows only X11 programs.
func (f *deviceFlags) screen() (link.Dialer, string, error) {
	own := os.Getenv("WAYLAND_DISPLAY")
	display := cmp.Or(f.display, own, os.Getenv("DISPLAY"))
	switch {
	case display == "":
		return nil, "", usagef("no screen: neither $WAYLAND_DISPLAY nor $DISPLAY is set; give --display or --capture")
	case display != own && x11.MatchString(display):
		return &link.X11{Display: display}, display, nil
	}
	return &link.Wayland{Display: display, Sway: os.Getenv("SWAYSOCK")}, display, nil
}

// x11 matches the end of an X11 display: its number, and maybe that of a screen. A Wayland display
// is the name of a socket.
var x11 = regexp.MustCompile(`:[0-9]+(\.[0-9]+)?$`)

// sockets listens for the device. The key in its paths is derived from the wearable's password, so
// that the device's OTA address stays the same.
func (f *deviceFlags) sockets() (link.Dialer, string, error) {
	password, err := readPassword(f.passwordFile)
	if err != nil {
		return nil, "", err
	}
	mac := hmac.New(sha256.New, []byte(password))
	fmt.Fprintf(mac, "%s %s", f.family.Name, f.name)
	s := &link.Sockets{Listen: f.listen, Key: hex.EncodeToString(mac.Sum(nil)[:12]), Device: f.options.Device, MQTT: f.mqtt, Config: f.family.Config}
	addr, err := s.Open()
	if err != nil {
		return nil, "", err
	}
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "THIS-MACHINE"
	}
	f.tellFirst = fmt.Sprintf("the device's OTA address is http://%s/%s/ota/", net.JoinHostPort(host, port), s.Key)
	return s, f.listen, nil
}
