package omi_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// told is a Dialer that records what is written to a characteristic.
type told struct {
	link.Dialer
	char string
	got  []byte // first byte of each write
}

func (d *told) Connect(ctx context.Context) (link.Device, error) {
	dev, err := d.Dialer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &toldDevice{dev, d}, nil
}

type toldDevice struct {
	link.Device
	of *told
}

func (d *toldDevice) Write(ctx context.Context, char string, b []byte) error {
	if char == d.of.char {
		d.of.got = append(d.of.got, b[0])
	}
	return d.Device.Write(ctx, char, b)
}

// Below 20 % of battery the device takes fewer photos, and after charging more again.
func TestLowBattery(t *testing.T) {
	for _, c := range []struct {
		every int
		want  []byte
	}{{30, []byte{30, 120, 30}}, {60, []byte{60, 127, 60}}, {0, nil}} {
		n := carrytest.NewNode(t)
		var capture bytes.Buffer
		fmt.Fprintln(&capture, `{"t":1,"op":"connect"}`)
		for i, level := range []byte{80, 20, 19, 3, 50} {
			fmt.Fprintf(&capture, `{"t":%d,"char":"%s","hex":"%02x"}`+"\n", 10+i, frame.BatteryChar, level)
		}
		d := &told{Dialer: link.NewCapture(&capture), char: frame.PhotoControl}
		b := n.Bridge(t, carrytest.StatePath(t), omi.Family, d)
		b.Cfg.Lossless, b.Cfg.Options.PhotoEvery = true, c.every
		if _, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(d.got, c.want) {
			t.Errorf("every %d s: told %v, want %v", c.every, d.got, c.want)
		}
	}
}
