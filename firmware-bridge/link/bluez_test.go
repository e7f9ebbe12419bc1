package link_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
)

const (
	audioChar   = "19b10001-e8f2-537e-4f6c-d104768a1214"
	codecChar   = "19b10002-e8f2-537e-4f6c-d104768a1214"
	timeChar    = "19b10031-e8f2-537e-4f6c-d104768a1214"
	batteryChar = "00002a19-0000-1000-8000-00805f9b34fb"
	address     = "D0:12:34:56:78:9A"
)

func scenario() linktest.Scenario {
	level := byte(87)
	return linktest.Scenario{
		Address: address, Name: "Omi", MTU: 247, Percentage: &level,
		Reads: map[string]string{codecChar: "15"}, Writes: []string{timeChar},
		Notify: []map[string][]string{{audioChar: {"000000aa", "000000aa", "010000bb", "drop"}}, {audioChar: {"020000cc"}}},
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestBlueZ(t *testing.T) {
	z := linktest.Start(t, scenario())
	b := &link.BlueZ{Device: strings.ToLower(address), Bus: z.Bus}
	ctx := deadline(t)
	d, err := b.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if d.MTU() != 247 {
		t.Errorf("MTU %d", d.MTU())
	}
	if v, err := d.Read(ctx, codecChar); err != nil || !bytes.Equal(v, []byte{0x15}) {
		t.Errorf("codec % x, %v", v, err)
	}
	if v, err := d.Read(ctx, batteryChar); err != nil || !bytes.Equal(v, []byte{87}) {
		t.Errorf("battery % x, %v", v, err)
	}
	if err := d.Write(ctx, timeChar, []byte{1, 2, 3, 4}); err != nil {
		t.Error(err)
	}
	const none = "00000000-0000-0000-0000-000000000000"
	_, err = d.Read(ctx, none)
	for _, err := range []error{err, d.Write(ctx, none, nil), d.Subscribe(ctx, none)} {
		if !errors.Is(err, link.ErrAbsent) {
			t.Errorf("of what is not there: %v", err)
		}
	}
	if err := d.Subscribe(ctx, audioChar); err != nil {
		t.Fatal(err)
	}
	// The same value twice is two notifications; then the device goes away.
	var got []string
	for n := range d.Notifications() {
		got = append(got, hex.EncodeToString(n.Data))
		if n.Char != audioChar || n.At.IsZero() {
			t.Errorf("%+v", n)
		}
	}
	if want := []string{"000000aa", "000000aa", "010000bb"}; !slices.Equal(got, want) || !errors.Is(d.Err(), link.ErrLost) {
		t.Errorf("%v, %v", got, d.Err())
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := z.Wrote(t, timeChar); !slices.Equal(got, []string{"01020304"}) {
		t.Errorf("wrote %v", got)
	}

	// And again, by name.
	b.Device = "Omi"
	if d, err = b.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	if err := d.Subscribe(ctx, audioChar); err != nil {
		t.Fatal(err)
	}
	if n := <-d.Notifications(); !bytes.Equal(n.Data, []byte{2, 0, 0, 0xcc}) {
		t.Errorf("% x", n.Data)
	}
	if err := d.Close(); err != nil || d.Err() != nil {
		t.Error(err, d.Err())
	}
	if _, open := <-d.Notifications(); open {
		t.Error("something comes after Close")
	}
}

func TestDiscovery(t *testing.T) {
	s := scenario()
	s.Hidden = true
	z := linktest.Start(t, s)
	d, err := (&link.BlueZ{Device: address, Bus: z.Bus}).Connect(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	log := strings.Join(z.Log(t), " ")
	if !strings.HasPrefix(log, "filter le discover ") || !strings.Contains(log, "discovered") {
		t.Error(log)
	}
}

// The errors are worded so that a person can do something about them.
func TestNoConnection(t *testing.T) {
	off, absent, other := scenario(), scenario(), scenario()
	off.Off, absent.Absent = true, true
	for _, c := range []struct {
		name string
		bus  func(t *testing.T) string
		err  error
		says string
	}{
		{"adapter off", func(t *testing.T) string { return linktest.Start(t, off).Bus }, link.ErrNoBluetooth, "hci0 is off"},
		{"no adapter", func(t *testing.T) string { return linktest.Start(t, absent).Bus }, link.ErrNoBluetooth, "no adapter"},
		{"another device", func(t *testing.T) string { return linktest.Start(t, other).Bus }, link.ErrNotFound, "AA:AA"},
		{"no bluetoothd", func(t *testing.T) string { return linktest.Bus(t) }, link.ErrNoBluetooth, "bluetoothd does not run"},
		{"no D-Bus", func(*testing.T) string { return "unix:path=/nonexistent/bus" }, link.ErrNoBluetooth, "D-Bus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := (&link.BlueZ{Device: "AA:AA:AA:AA:AA:AA", Bus: c.bus(t), Search: time.Second}).Connect(deadline(t))
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
}
