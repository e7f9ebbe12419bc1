package hostile

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// words of what can be wrong with a relay. An error of a round has one of them,
// or is the network's.
var words = []error{
	replica.ErrAhead, replica.ErrConflict, replica.ErrFork, replica.ErrForbidden, replica.ErrBlob, replica.ErrNotFound,
	replica.ErrRolledBack, replica.ErrForeign, replica.ErrRepeated, replica.ErrRemoved,
	remote.ErrAnswer, remote.ErrFailed, remote.ErrQuota, remote.ErrBusy, remote.ErrForbidden, remote.ErrInvite, remote.ErrNotFound, remote.ErrRefused,
	envelope.ErrForm, envelope.ErrSignature, envelope.ErrBody, envelope.ErrGap, envelope.ErrRule, envelope.ErrUnknownHead,
	io.ErrUnexpectedEOF, io.EOF, context.DeadlineExceeded,
}

// named gives an error that does not say what is wrong.
func (w *world) named(d *device, err error) error {
	if err == nil {
		return nil
	}
	w.report.Named++
	var network net.Error
	var fork *envelope.ForkError
	var refused *remote.Error
	if errors.As(err, &network) || errors.As(err, &fork) || errors.As(err, &refused) {
		return nil
	}
	for _, known := range words {
		if errors.Is(err, known) {
			return nil
		}
	}
	return fmt.Errorf("%s: an error without a name: %w", d.name, err)
}

// maxRounds is how many rounds of all devices it may take until nothing moves: a
// device that was misled again and again looks at everything in each sixteenth round
// alone, and what it then sends, the others take in the next.
const maxRounds = 20

// settle has the relay be honest, and the devices meet.
func (w *world) settle() error {
	w.relay.honest()
	w.tell("the relay is honest")
	var errs []error
	last := ""
	for range maxRounds {
		errs = nil
		if err := w.whoIsOut(); err != nil {
			return err
		}
		for _, d := range w.living() {
			d.skew = 0
			err := d.sync()
			w.tell("%s: sync: %v", d.name, err)
			if s, e := d.rep.Status(w.ctx); e != nil {
				return e
			} else if s.Withheld > 0 && err == nil { // it looks for bodies seldom, and as it starts
				err = errors.Join(d.die(false), d.sync())
				w.tell("%s: lacked %d bodies, and began anew: %v", d.name, s.Withheld, err)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s does not get on with a relay that is honest: %w", d.name, err))
			}
		}
		places, err := w.places()
		if err != nil {
			return err
		}
		if len(errs) == 0 && places == last {
			return nil
		}
		last = places
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("after %d rounds something still moves: %s", maxRounds, last))
	}
	return errors.Join(errs...)
}

// whoIsOut finds devices whose removal came through without an answer.
func (w *world) whoIsOut() error {
	for _, by := range w.living() {
		log, err := by.log()
		if err != nil {
			return err
		}
		for _, d := range w.living() {
			if _, _, out := log.Past(d.id); out {
				w.tell("%s is out, says %s", d.name, by.name)
				d.removed = true
				if err := w.countOf(by, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// log is what follows from the entries that a device has.
func (d *device) log() (*envelope.State, error) {
	log := new(envelope.State)
	entries, err := d.journal.Entries(d.w.ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = log.Append(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return log, nil
}

// places says how far all are.
func (w *world) places() (string, error) {
	var b strings.Builder
	for _, d := range w.living() {
		s, err := d.rep.Status(w.ctx)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s at %d, log %d, %d to send, lacks %d; ", d.name, s.Cursor, s.Log, s.Pending, s.Withheld)
	}
	return b.String(), nil
}

// check holds the world to what was promised.
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

// pictures checks that the relay has each picture that a device has and a note
// names, and none that no note names.
func (w *world) pictures() error {
	named, _, err := w.living()[0].ledger().Named(w.ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.relay.dir, "blobs", w.space.id.String())
	for _, d := range w.living() {
		for _, b := range w.blobs {
			note, err := d.journal.RemoteBlob(w.ctx, b.name)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			f, _, err := d.journal.OpenBlob(w.ctx, b.name)
			if errors.Is(err, memory.ErrNotFound) && !b.cooled {
				continue
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return err
			}
			w.report.Held++
			if _, err := os.Stat(filepath.Join(dir, note.Sealed.String())); err != nil {
				return fmt.Errorf("%s names the picture of %d, which it has or was shown, and the relay has not: %w", d.name, b.owner[0], err)
			}
		}
	}
	// What a device that is out, no owner, or was put back had sent, it alone knew of.
	if slices.ContainsFunc(w.devices, func(d *device) bool { return d.removed || d.restored || d.role != envelope.Owner }) {
		return nil
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		var id envelope.Hash
		if id.UnmarshalText([]byte(f.Name())) == nil && !named[id] {
			return fmt.Errorf("the relay has blob %s, which nobody names", id)
		}
	}
	w.report.Pictures++
	return err
}

// leftOut reports whether somebody names a removal that left out what it had
// taken: then the relay had hidden that from who removed, and the rest can't
// meet, as they were told.
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

// meet checks that all devices have the same state.
func (w *world) meet() error {
	var first *device
	var want string
	for _, d := range w.living() {
		got, err := d.state()
		if err != nil {
			return err
		}
		if first == nil {
			first, want = d, got
		} else if got != want {
			return fmt.Errorf("%s and %s did not meet:\n%s", first.name, d.name, difference(want, got))
		}
	}
	return nil
}

func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	var out []string
	for _, l := range as {
		if !slices.Contains(bs, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range bs {
		if !slices.Contains(as, l) {
			out = append(out, "+ "+l)
		}
	}
	return strings.Join(out, "\n")
}

// state is everything that a device knows and others should, a line each.
func (d *device) state() (string, error) {
	var lines []string
	err := d.store.View(d.w.ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.State == memory.Erased {
				continue // of some there is the id alone
			}
			b, err := json.Marshal(m)
			if err != nil {
				return err
			}
			lines = append(lines, string(b))
			as, err := tx.Assertions(m.ID)
			if err != nil {
				return err
			}
			for _, a := range as {
				lines = append(lines, fmt.Sprintf("%s: %s:%d %s", a.Memory, a.Dot.Member, a.Dot.Seq, a.Act))
			}
		}
		for u, err := range tx.Utterances(start, start.AddDate(1, 0, 0)) {
			if err != nil {
				return err
			}
			b, err := json.Marshal(u)
			if err != nil {
				return err
			}
			lines = append(lines, string(b))
		}
		return nil
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

// holds reports whether something that was said is there, or was erased.
func holds(tx *store.Tx, s *said) (bool, error) {
	if s.utter {
		_, err := tx.Utterance(s.id)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	as, err := tx.Assertions(s.id)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(as, func(a memory.Assertion) bool { return a.Dot == s.dot }), nil
}

func gone(tx *store.Tx, id memory.ID) (bool, error) {
	m, err := tx.Memory(id)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && m.State == memory.Erased && m.Text == "", err
}

// keeps checks that nothing that was acknowledged is lost on a device, and that
// nothing that was removed is back.
func (w *world) keeps(d *device) error {
	return d.store.View(w.ctx, func(tx *store.Tx) error {
		for _, s := range w.said {
			has, err := holds(tx, s)
			if err != nil {
				return err
			}
			erased, err := gone(tx, s.id)
			if err != nil {
				return err
			}
			if !has && !erased && !s.excused {
				return fmt.Errorf("%s does not have what %s said: %s", d.name, s.by.name, s)
			}
		}
		for _, e := range w.erased {
			erased, err := gone(tx, e.id)
			if err != nil {
				return err
			}
			if !erased && !e.excused {
				return fmt.Errorf("%s still has what %s erased: %s", d.name, e.by.name, e)
			}
		}
		for _, b := range w.blobs {
			if err := w.sameBlobIn(tx, d, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// String names it.
func (s *said) String() string {
	if s.utter {
		return "utterance " + s.id.String()
	}
	return fmt.Sprintf("%s:%d of memory %d", s.dot.Member, s.dot.Seq, s.id[0])
}

func (w *world) sameBlob(d *device, b *blob) error {
	return d.store.View(w.ctx, func(tx *store.Tx) error { return w.sameBlobIn(tx, d, b) })
}

// sameBlobIn checks that a blob which a device has is what it was.
func (w *world) sameBlobIn(tx *store.Tx, d *device, b *blob) error {
	r, err := tx.OpenBlob(b.name)
	if errors.Is(err, memory.ErrNotFound) {
		return nil // it was never fetched
	}
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, b.bytes) {
		return fmt.Errorf("%s has another blob than %s kept: %d bytes of %d, %v", d.name, b.by.name, len(got), len(b.bytes), err)
	}
	if erased, err := gone(tx, b.owner); err != nil || erased {
		return errors.Join(err, fmt.Errorf("%s still has the blob of a memory that was erased", d.name))
	}
	return nil
}

// excluded checks that who was removed has no key of a later epoch.
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

// blind checks that the relay has seen and stored nothing that it could read:
// no word, no key.
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
	places := map[string][]byte{"what the relay was sent": w.relay.received.Bytes()} // nobody asks now
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

// forgotten checks that no body at the relay says a word of what was erased, as
// far as its author is there to take it away.
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
			continue // the first was removed
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
