package link

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Found is a Bluetooth device that is in range, or that this machine knows.
type Found struct {
	Address   string   `json:"address"`
	Name      string   `json:"name,omitempty"`
	Signal    *int16   `json:"signal,omitempty"`  // dBm; nil: it is not received now
	Battery   *byte    `json:"battery,omitempty"` // %; nil: BlueZ does not know it
	Connected bool     `json:"connected,omitempty"`
	Services  []string `json:"-"` // UUIDs in lower case
}

// Scan looks for the duration of Search, and returns the devices by address. The errors include
// ErrNoBluetooth.
func (b *BlueZ) Scan(ctx context.Context) ([]Found, error) {
	d, err := b.listen(ctx)
	if err != nil {
		return nil, err
	}
	defer d.bus.Close()
	all, err := d.objects(ctx)
	if err != nil {
		return nil, err
	}
	adapter, err := usable(all)
	if err != nil {
		return nil, err
	}
	stop, err := d.discover(ctx, adapter)
	if err != nil {
		return nil, err
	}
	defer stop()
	select {
	case <-time.After(b.Search):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if all, err = d.objects(ctx); err != nil {
		return nil, err
	}
	return found(all), nil
}

func found(all objects) (out []Found) {
	for _, ifaces := range all {
		p, ok := ifaces[deviceIface]
		if !ok {
			continue
		}
		f := Found{}
		f.Address, _ = p["Address"].Value().(string)
		f.Name, _ = p["Name"].Value().(string)
		f.Connected, _ = p["Connected"].Value().(bool)
		if s, ok := p["RSSI"].Value().(int16); ok {
			f.Signal = &s
		}
		if level, ok := ifaces[batteryIface]["Percentage"].Value().(byte); ok {
			f.Battery = &level
		}
		list, _ := p["UUIDs"].Value().([]string)
		for _, u := range list {
			f.Services = append(f.Services, strings.ToLower(u))
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Found) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

// String returns a line for a person.
func (f *Found) String() string {
	signal, battery := "-", "-"
	if f.Signal != nil {
		signal = fmt.Sprintf("%d dBm", *f.Signal)
	}
	if f.Connected {
		signal = "connected"
	}
	if f.Battery != nil {
		battery = fmt.Sprintf("%d %%", *f.Battery)
	}
	return fmt.Sprintf("%-17s  %-24.24q  %-9s  %s", f.Address, f.Name, signal, battery)
}
