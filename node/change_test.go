package node_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote/page"
)

// other returns the member that is not this device.
func (d *device) other() (id memory.MemberID) {
	d.t.Helper()
	members, err := d.Members(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, m := range members {
		if !m.Here {
			id = m.ID
		}
	}
	return id
}

// A change of the members has no effect, and says so, while the relay can't be
// reached. A relay that lies about deltas can't keep anybody from being
// removed.
func TestMembershipChangeWithABadRelay(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 41), newDevice(t, relay.url, 42)
	phrase := serve.Secret(a.init())
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	b.tell("From the second.", nil)
	b.well()
	lost := a.other()

	online := a.offline()
	a.sync()
	told := func(err error) bool {
		return errors.Is(err, serve.ErrRelay) && strings.Contains(err.Error(), "nothing was changed")
	}
	if _, err := a.Rotate(t.Context()); !told(err) {
		t.Errorf("rotate: %v", err)
	}
	if err := a.RemoveMember(t.Context(), lost, phrase); !told(err) {
		t.Errorf("remove: %v", err)
	}
	if got := a.finding("sync"); !strings.Contains(got, "warning") {
		t.Errorf("doctor, while the relay is out of reach: %s", got)
	}
	online()

	lied := false
	a.net.lie(pages(t, func(ds []page.Placed) []page.Placed {
		for i := range ds {
			ds[i].Delta, lied = bytes.Repeat([]byte{1}, 600), true
		}
		return ds
	}))
	if err := a.RemoveMember(t.Context(), lost, phrase); err != nil {
		t.Errorf("by a relay that lies: %v", err)
	}
	if !lied {
		t.Error("the relay was never asked for what it lies about")
	}
	a.net.lie(nil)
	if got := a.other(); got != (memory.MemberID{}) {
		t.Errorf("%s is a member still", got)
	}
	if s := a.sync(); s.Error != "" {
		t.Error(s.Error)
	}
	b.sync()
	if got := b.finding("sync"); !strings.Contains(got, "removed") {
		t.Errorf("doctor of the removed one: %s", got)
	}
}

// finding returns the doctor's first finding of a check.
func (d *device) finding(check string) string {
	d.t.Helper()
	r, err := d.Doctor(d.t.Context(), false)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Check == check {
			return f.Level + ": " + f.Detail
		}
	}
	return "nothing"
}
