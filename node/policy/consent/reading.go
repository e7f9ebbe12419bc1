package consent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

// Reveal is the action of an app that reads an entry of the vault. No rule of a policy
// permits it: the wearer is asked about each reading.
const Reveal policy.Action = "reveal"

// How long a question about the vault waits, and how long an agreement to it is valid.
const (
	readingWaits = 24 * time.Hour
	readingFor   = 10 * time.Minute
)

const maxReadings = 5 // waiting questions of one app about the vault

// Reading is the result of an app's question about an entry of the vault.
type Reading struct {
	Entry  memory.ID // the entry, which may be read now, once; zero: the question waits
	Lapses time.Time // when the question expires without an answer
	Asked  bool      // the question is new
}

// ReadEntry returns the entry that an app asked for if the wearer agreed, and uses up that
// agreement. Otherwise it asks the wearer, unless the question waits already. An entry is named
// by its label or its id. For an entry that does not exist, or does not fit, the wearer is
// asked as for any other, so that the answer to the app reveals nothing. If the vault was
// closed after the agreement, the app waits for it to be opened. It returns serve.ErrForbidden
// if the wearer refused, and serve.ErrLimit if too many questions wait.
func (d *Asker) ReadEntry(ctx context.Context, by policy.Request, entry string, fits func(*memory.Memory) bool) (r Reading, err error) {
	a := inquiry{d, by, entry, fits, d.c.Now().UTC().Truncate(time.Second)}
	var changes bool
	if err := d.c.Store.View(ctx, func(tx *store.Tx) error {
		list, out, err := a.step(tx)
		r, changes = out, list != nil
		return err
	}); err != nil || !changes {
		return r, err
	}
	if r.Asked {
		if err := d.c.Note(ctx, DidAsk, "the vault", by.Who(), 1, time.Time{}); err != nil {
			return Reading{}, err
		}
	}
	first := r
	err = d.c.Store.Update(ctx, func(tx *store.Tx) error {
		list, out, err := a.step(tx)
		if err != nil || list == nil {
			r = out
			return err
		}
		if out.Entry != first.Entry || out.Asked != first.Asked {
			r = Reading{Lapses: a.now.Add(readingWaits)} // another request of the app came first: it may ask again
			return nil
		}
		r = out
		return save(tx, list, a.now)
	})
	if err != nil {
		return Reading{}, err
	}
	return r, nil
}

// inquiry is an app's request for an entry, at one moment.
type inquiry struct {
	*Asker
	by    policy.Request
	entry string
	fits  func(*memory.Memory) bool
	now   time.Time
}

// step decides about the inquiry, and returns the questions to be stored; nil: they stay as
// they are.
func (a *inquiry) step(tx *store.Tx) (list []question, out Reading, err error) {
	if list, err = read(tx); err != nil {
		return nil, out, err
	}
	id, mark, what, err := entryOf(tx, a.entry, a.fits)
	if err != nil {
		return nil, out, err
	}
	about := func(q *question) {
		if q.Of, q.Goods = []memory.ID{id}, nil; what != "" {
			q.Goods = map[memory.ID]string{id: what}
		}
	}
	fresh := a.question()
	asked := func(q question) bool { return q.ID == fresh.ID }
	i := slices.IndexFunc(list, asked)
	if i < 0 || !list[i].holds(a.now) { // the wearer may have agreed to the same entry under its other name
		yes := slices.IndexFunc(list, func(q question) bool {
			return q.By.Action == Reveal && q.of(&a.by) && q.Allowed && q.holds(a.now) && at(q.Shown, id) >= 0
		})
		if yes >= 0 {
			i = yes
		}
	}
	if i >= 0 && list[i].holds(a.now) {
		q := &list[i]
		if !q.Allowed {
			return nil, out, fmt.Errorf("%w: the wearer said no, until %s", serve.ErrForbidden, q.Until.Format(time.DateTime))
		}
		s := at(q.Shown, id)
		same := s >= 0 && mark != "" && q.Shown[s].Mark == mark
		if same && a.vaultUntil().IsZero() {
			out.Lapses = q.Until
			return nil, out, nil
		}
		list = slices.Delete(list, i, i+1)
		if same {
			out.Entry = id
			return list, out, nil
		}
		i = slices.IndexFunc(list, asked) // the entry was changed after the agreement, which was for something else
	}
	if i >= 0 && list[i].waits(a.now) {
		out.Lapses = list[i].lapses()
		if of := list[i].Of; len(of) == 1 && of[0] == id {
			return nil, out, nil
		}
		about(&list[i]) // the entry was added or removed since
		return list, out, nil
	}
	if i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if err := a.mayAsk(list); err != nil {
		return nil, out, err
	}
	about(&fresh)
	out.Lapses, out.Asked = fresh.lapses(), true
	return append(list, fresh), out, nil
}

// question returns what the wearer would be asked, without the entry that it is about.
func (a *inquiry) question() question {
	rule := policy.Asking("each reading of the vault", "An app may read one entry of the vault once, once you say yes, each time.")
	named := a.by
	named.Action, named.Purpose = Reveal, ""
	// The question's id depends on what the app asked for, and not on the entry's id. Otherwise
	// the answer to an app that was refused would change when the entry is added or removed.
	id := idOf(&Held{By: named}, policy.Asking(rule.ID, memory.Normal(a.entry)))
	named.Purpose, named.Now = a.by.Purpose, time.Time{}
	return question{ID: id, By: named, Rule: rule.Name(), Key: rule.Key(), First: a.now, Last: a.now, Asked: 1}
}

// mayAsk refuses another question if too many wait.
func (a *inquiry) mayAsk(list []question) error {
	all, vault := 0, 0
	for i := range list {
		if q := &list[i]; q.of(&a.by) && q.waits(a.now) {
			all++
			if q.By.Action == Reveal {
				vault++
			}
		}
	}
	if vault >= maxReadings || all >= maxTheirs || len(list) >= maxQuestions {
		return fmt.Errorf("%w: %d questions wait for the wearer", serve.ErrLimit, all)
	}
	return nil
}

// entryOf finds the one entry of the vault that has a label or an id and fits. If there is
// none, id stands for what was asked for, and what tells that to the wearer.
func entryOf(tx *store.Tx, entry string, fits func(*memory.Memory) bool) (id memory.ID, mark, what string, err error) {
	found := 0
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Vault}}) {
		if err != nil {
			return id, "", "", err
		}
		f := m.Fields.Vault
		if f == nil || m.State != memory.Active || m.ID.String() != entry && memory.Normal(f.Label) != memory.Normal(entry) || !fits(m) {
			continue
		}
		found++
		it := policy.ItemOf(m)
		id, mark = m.ID, it.Mark()
	}
	switch found {
	case 1:
		return id, mark, "", nil
	case 0:
		what = fmt.Sprintf("“%s”: no entry of the vault that it may ask for is called that", entry)
	default:
		what = fmt.Sprintf("“%s”: %d entries of the vault are called that, so it has to ask by an id", entry, found)
	}
	sum := sha256.Sum256([]byte("asked of the vault\x00" + memory.Normal(entry)))
	return memory.ID(sum[:16]), "", what, nil
}

// mayRead checks an agreement to a reading. The wearer has to name the one entry as it was
// shown. The vault has to be open, because the app gets the entry from it.
func (d *Asker) mayRead(q *question, r *serve.ConsentAnswer) error {
	switch {
	case q.By.Action != Reveal || r.Act != "allow":
		return nil
	case len(r.Of) != 1:
		return fmt.Errorf("%w: of: want the one entry, as it was shown", memory.ErrInvalid)
	case r.Of[0].Mark == "":
		return fmt.Errorf("consent %s: %w: no such entry can be read", q.ID, serve.ErrConflict)
	case d.vaultUntil().IsZero():
		return serve.ErrVaultLocked
	}
	return nil
}

func (d *Asker) vaultUntil() time.Time {
	if d.c.VaultUntil == nil {
		return time.Time{}
	}
	return d.c.VaultUntil()
}

// entryItem returns an entry of the vault as it is shown, without its secret.
func entryItem(tx *store.Tx, id memory.ID) (serve.ConsentItem, bool) {
	m, err := engine.Live(tx, id)
	if err != nil || m.Fields.Vault == nil {
		return serve.ConsentItem{}, false
	}
	it := policy.ItemOf(&m)
	return serve.ConsentItem{ID: id, Type: m.Type, Text: m.Fields.Vault.Label + " (" + m.Fields.Vault.EntryType + ")", Mark: it.Mark()}, true
}
