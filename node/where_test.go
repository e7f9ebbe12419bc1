package node_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// where returns, in one line, where a device knows a memory to be: at which
// members, then at which relays.
func (d *device) where(id memory.ID) string {
	d.t.Helper()
	w, err := d.Where(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	var out strings.Builder
	for i, m := range w.Members {
		if m.Here != (i == 0) {
			d.t.Errorf("this device is not the first: %+v", w.Members)
		}
		fmt.Fprint(&out, m.Holds)
		if m.Said {
			out.WriteString("+said")
		}
		out.WriteByte(' ')
	}
	out.WriteByte('|')
	for _, r := range w.Relays {
		fmt.Fprintf(&out, " %s %s", r.Kind, r.Holds)
	}
	if w.Waits > 0 {
		fmt.Fprintf(&out, ", %d waits", w.Waits)
	}
	if w.Cold {
		out.WriteString(", cold")
	}
	return out.String()
}

func TestWhereAMemoryIs(t *testing.T) {
	relay, mirror := serveRelay(t), serveRelay(t)
	a, b := newDevice(t, relay.url, 1), newDevice(t, relay.url, 2)
	a.init()
	want := func(d *device, id memory.ID, want string) {
		t.Helper()
		if got := d.where(id); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	id := a.home("Berlin")
	want(a, id, "all+said | house part, 1 waits")
	a.well()
	want(a, id, "all+said | house all")
	a.pair(b)
	b.well()
	a.well()
	want(a, id, "all+said offered | house all")
	want(b, id, "all offered+said | house all")
	if _, err := b.Pin(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	want(b, id, "all+said part+said | house part, 1 waits")
	b.well()
	a.well()
	want(a, id, "all+said offered+said | house all")

	// A mirror that is down has received nothing of what was said since.
	if _, err := a.AddRelay(t.Context(), mirror.url); err != nil {
		t.Fatal(err)
	}
	want(a, id, "all+said offered+said | house all mirror all")
	mirror.stop()
	later := a.tell("The plums are ripe.", nil)
	want(a, later, "all+said part | house part mirror part, 1 waits")
	a.sync()
	want(a, later, "all+said offered | house all mirror unknown")

	if err := a.Delete(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	for _, id := range []memory.ID{later, {1}} {
		if w, err := a.Where(t.Context(), id); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("of what is not there: %+v, %v", w, err)
		}
	}
}

func TestWhereAColdMemoryIs(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 12)
	if a := d.cool(); a.Cold == 0 {
		t.Fatalf("%+v", a)
	}
	defer d.offline()() // nothing is fetched for it
	if got := d.where(ids[4]); got != "stub | house all, cold" {
		t.Errorf("%q", got)
	}
}

// Without sync a memory is on this device alone, and nothing waits.
func TestWhereWithoutSync(t *testing.T) {
	d := newDevice(t, "", 1)
	d.init()
	if got := d.where(d.home("Berlin")); got != "all+said |" {
		t.Errorf("%q", got)
	}
	w, err := d.Where(t.Context(), d.home("Ghent"))
	if err != nil || w.Relays == nil || w.Members[0].ID == (memory.MemberID{}) {
		t.Errorf("%+v, %v", w, err)
	}
}
