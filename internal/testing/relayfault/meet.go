package relayfault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

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

// state returns everything that a device knows and others should know, a line each.
func (d *device) state() (string, error) {
	var lines []string
	err := d.store.View(d.w.ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.State == memory.Erased {
				continue // for some there is only the id
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

// holds reports whether something that was said exists, or was erased.
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

// keeps checks that nothing acknowledged is lost on a device, and that nothing removed has come
// back.
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
