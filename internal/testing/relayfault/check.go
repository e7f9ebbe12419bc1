package relayfault

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// check checks the promises for the world.
func (w *world) check() error {
	apart, err := w.leftOut()
	if err != nil {
		return err
	}
	if apart {
		w.report.LeftOut++
	} else if err := w.meet(); err != nil {
		return err
	}
	for _, d := range w.living() {
		if err := w.keeps(d); err != nil && !apart {
			return err
		}
	}
	if !apart {
		if err := w.pictures(); err != nil {
			return err
		}
	}
	if err := w.excluded(); err != nil {
		return err
	}
	return w.blind()
}

// leftOut reports whether a device reports a removal that left out something that it had accepted.
// Then the relay had hidden that from the remover, and the devices can't meet, as they were told.
func (w *world) leftOut() (bool, error) {
	for _, d := range w.living() {
		ps, err := d.rep.Problems(w.ctx)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(ps, func(p replica.Problem) bool { return strings.Contains(p.Reason, replica.ErrLeftOut.Error()) }) {
			return true, nil
		}
	}
	return false, nil
}

// excluded checks that no removed device has a key of a later epoch.
func (w *world) excluded() error {
	newest := uint32(0)
	for _, d := range w.living() {
		for n := range d.keys {
			newest = max(newest, n)
		}
	}
	for _, d := range w.devices {
		if _, has := d.keys[newest]; d.removed && has {
			return fmt.Errorf("%s was removed, and has the key of epoch %d", d.name, newest)
		}
	}
	return nil
}

// blind checks that the relay has seen and stored nothing readable: no word, no key.
func (w *world) blind() error {
	secrets := map[string][]byte{}
	for i, s := range w.said {
		if s.word != "" {
			secrets[fmt.Sprintf("word %d, of %s", i, s.by.name)] = []byte(s.word)
		}
	}
	for _, b := range w.blobs {
		secrets["blob of "+b.by.name] = b.bytes[:24]
	}
	key := func(name string, b []byte) {
		secrets[name] = b
		secrets[name+" in hexadecimal"] = []byte(hex.EncodeToString(b))
	}
	for _, d := range append(slices.Clone(w.devices), w.stranger) {
		key("signing key of "+d.name, d.sign.Seed())
		key("identity of "+d.name, d.pair.Seed().Bytes())
		key("store key of "+d.name, d.under.Bytes())
		secrets["name of "+d.name] = []byte("device " + d.name)
		for n, k := range d.keys {
			key(fmt.Sprintf("key of epoch %d", n), k.Bytes())
		}
	}
	key("root", w.space.root.Seed())
	key("recovery", w.space.recovery.Seed().Bytes())
	places := map[string][]byte{"what the relay was sent": w.relay.received.Bytes()} // nobody makes requests now
	err := filepath.WalkDir(w.relay.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			places[e.Name()], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for place, b := range places {
		for name, secret := range secrets {
			if bytes.Contains(b, secret) {
				return fmt.Errorf("%s holds %s", place, name)
			}
		}
	}
	return w.forgotten()
}

// forgotten checks that no body at the relay contains a word of what was erased, unless its author
// is gone and can't remove it.
func (w *world) forgotten() error {
	placed, err := w.living()[0].at.Placed(w.ctx, 0, 256)
	if err != nil {
		return err
	}
	for _, p := range placed {
		d, err := envelope.ParseDelta(p.Delta)
		if err != nil {
			return err
		}
		by := w.author(d.Header.Member)
		if d.Body == nil || by == nil || by.removed || by.restored {
			continue
		}
		plain, err := seal.OpenBody(w.devices[0].keys[d.Header.Epoch], d.Body)
		if err != nil {
			continue // the first device was removed
		}
		ops, err := delta.Decode(&d.Header, plain)
		if err != nil {
			return err
		}
		for _, o := range ops {
			for _, e := range w.erased {
				if e.excused {
					continue
				}
				if o.Assertion != nil && o.Assertion.Act != memory.ActErase && o.Assertion.Memory == e.id || o.Utterance != nil && o.Utterance.ID == e.id {
					return fmt.Errorf("the relay still has a body of %s with %s, which was erased", by.name, e)
				}
			}
		}
	}
	return nil
}

func (w *world) author(id memory.MemberID) *device {
	for _, d := range w.devices {
		if d.id == id {
			return d
		}
	}
	return nil
}
