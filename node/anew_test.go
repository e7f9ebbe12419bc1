package node_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
)

// lives begins n chains of a device, whose home is closed, at the relay.
func (d *device) lives(n int) {
	d.t.Helper()
	ring, head := d.ring(), d.heads()[1]
	at, err := remote.New(d.cfg.Sync.Relay, remote.Option{})
	if err != nil {
		d.t.Fatal(err)
	}
	defer at.Close()
	for i := range n {
		b := forgeIn(d.t, 1000+uint64(i), ring, head, 1, ring.DeviceSign, fmt.Sprintf("Of life %d.", i))
		one, err := envelope.ParseDelta(b)
		if err != nil {
			d.t.Fatal(err)
		}
		if _, err := at.Space(ring.Space(), ring.Member(), ring.SignRequest).Append(d.t.Context(), []*envelope.Delta{one}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// archived returns everything that a device exports.
func (d *device) archived() (all []archive.Record) {
	d.t.Helper()
	for r, err := range d.Export(d.t.Context(), serve.ExportOptions{}) {
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func records(all []archive.Record) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A device that has used up the number of chains that a member may begin reports
// why nothing of it is sent. If it is admitted again as another member, and
// imports its own export, everything that was not sent reaches all devices, and
// nothing is stored twice.
func TestDeviceWithoutChainsJoinsAgain(t *testing.T) {
	t.Parallel()
	relay := serveRelay(t)
	one, two := newDevice(t, relay.url, 61), newDevice(t, relay.url, 62)
	phrase := one.init()
	one.home("Berlin")
	one.well()
	one.pair(two)
	two.well()
	two.tell("Before the backup.", nil)
	before := two.tell("To be forgotten.", nil)
	two.well()
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	copyDir(t, two.cfg.Home, backup)
	two.lives(envelope.MaxIncarnations - 1)
	two.open()
	two.tell("After the backup.", nil)
	two.well()
	if err := errors.Join(two.Close(), os.RemoveAll(two.cfg.Home)); err != nil {
		t.Fatal(err)
	}
	copyDir(t, backup, two.cfg.Home)
	two.open()
	two.tell("It is told to nobody.", nil)
	for range 2 {
		if s := two.sync(); !strings.Contains(s.Error, "chains") || s.Pending == 0 {
			t.Fatalf("at the limit: %+v", s)
		}
	}

	unsent := two.tell("It is corrected to somebody.", nil)
	text := "It is corrected to nobody."
	if _, err := two.Update(t.Context(), unsent, serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	all, signer := two.archived(), two.words()
	members, err := one.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(members, func(m serve.Member) bool { return !m.Here })
	if err := one.RemoveMember(t.Context(), members[i].ID, serve.Secret(phrase)); err != nil {
		t.Fatal(err)
	}
	plan, err := one.PlanForget(t.Context(), serve.ForgetSelection{IDs: []memory.ID{before}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Forget(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	one.well()
	three := newDevice(t, relay.url, 63)
	one.pair(three)
	three.well()
	if got := three.state(); !strings.Contains(got, "Of life 126.") || !strings.Contains(got, "After the backup.") || strings.Contains(got, "told to nobody") {
		t.Fatalf("let in anew: %s", got)
	}
	res, err := three.Import(t.Context(), records(all), serve.ImportOptions{Signer: signer})
	if err != nil || res.Taken != 3 || res.Refused != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err = three.Import(t.Context(), records(all), serve.ImportOptions{Signer: signer}); err != nil || res.Taken != 0 || res.Refused != 0 {
		t.Fatalf("again: %+v, %v", res, err)
	}
	three.well()
	one.well()
	if got := one.state(); strings.Count(got, "\"text\":\"It is told to nobody.\"") != 1 || strings.Count(got, "\"text\":\""+text+"\"") != 1 ||
		strings.Contains(got, "To be forgotten.") || got != three.state() {
		t.Errorf("the first knows\n%s\nthe new one\n%s", got, three.state())
	}
}

// What another device of the wearer has said and not sent yet is left for that
// device to send, even if this device imports it first.
func TestImportLeavesUnsentAssertionsToTheirDevice(t *testing.T) {
	relay := serveRelay(t)
	one, two := newDevice(t, relay.url, 64), newDevice(t, relay.url, 65)
	one.init()
	one.well()
	one.pair(two)
	two.well()
	one.tell("On its way.", nil)
	if res, err := two.Import(t.Context(), records(one.archived()), serve.ImportOptions{}); err != nil || res.Taken != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	two.well()
	one.well()
	two.well()
	said := 0
	for _, r := range one.archived() {
		if r.Kind == archive.KindAssertion {
			said++
		}
	}
	if said != 1 || one.state() != two.state() {
		t.Errorf("it was said %d times", said)
	}
}
