package forget

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// Chosen is what will be forgotten, in the order of the store.
type Chosen struct {
	Memories    []memory.Memory
	Trimmed     []Trimmed // memories that stay, without the evidence that is erased
	Utterances  []memory.Utterance
	Events      []memory.EventID // events that are erased completely, with their refusals and what is held of them
	Quarantined []uint64         // in quarantine
	Places      []string         // places at which the utterances were said
	Latest      time.Time        // when the latest of what will be forgotten happened
}

// Trimmed is a memory that stays because it has other evidence.
type Trimmed struct {
	Memory memory.Memory
	Left   []memory.Evidence // oldest first
}

// choose finds what a want names, with everything that follows from it. held are
// the events that wait for more and are in no record yet.
func choose(tx *store.Tx, w Want, held []extract.HeldEvent) (Chosen, error) {
	c := newChooser(tx)
	if err := c.load(); err != nil {
		return Chosen{}, err
	}
	if err := c.takeNamed(&w, held); err != nil {
		return Chosen{}, err
	}
	return c.followAll(w.Scope != nil)
}

// chooseAgain finds what has to be forgotten now with an earlier choice. It adds what was
// made since then from a source that is forgotten. It skips what is gone already.
func chooseAgain(tx *store.Tx, before Chosen) (Chosen, error) {
	c := newChooser(tx)
	if err := c.load(); err != nil {
		return Chosen{}, err
	}
	for i := range before.Memories {
		if _, err := c.cold(before.Memories[i].ID); err != nil {
			return Chosen{}, err
		}
		if m := c.memories[before.Memories[i].ID]; m != nil {
			c.erased[m.ID] = true
		}
	}
	for i := range before.Utterances {
		u, err := tx.Utterance(before.Utterances[i].ID)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return Chosen{}, err
		}
		c.takeUtterance(u)
	}
	for _, e := range before.Events {
		c.events[e] = true
	}
	c.quarantined = before.Quarantined
	c.keepSources = true
	return c.followAll(false)
}

type chooser struct {
	tx            *store.Tx
	order         []memory.ID
	memories      map[memory.ID]*memory.Memory
	evidenceCache map[memory.ID][]memory.Evidence // cached evidence of memories
	erased        map[memory.ID]bool
	trimmed       map[memory.ID][]memory.Evidence // evidence that is left to memories that stay
	utterances    map[memory.ID]*memory.Utterance
	events        map[memory.EventID]bool
	quarantined   []uint64
	keepSources   bool // keep the sources of memories that are forgotten, because the earlier choice has them already
}

func newChooser(tx *store.Tx) *chooser {
	return &chooser{tx: tx, memories: map[memory.ID]*memory.Memory{}, evidenceCache: map[memory.ID][]memory.Evidence{}, erased: map[memory.ID]bool{},
		trimmed: map[memory.ID][]memory.Evidence{}, utterances: map[memory.ID]*memory.Utterance{}, events: map[memory.EventID]bool{}}
}

func (c *chooser) load() error {
	for m, err := range c.tx.Memories(store.Filter{}) {
		if err != nil {
			return err
		}
		c.order = append(c.order, m.ID)
		c.memories[m.ID] = m
	}
	return nil
}

// takeNamed takes what the want names directly.
func (c *chooser) takeNamed(w *Want, held []extract.HeldEvent) error {
	for _, id := range w.IDs {
		if err := c.checkExists(id); err != nil {
			return err
		}
	}
	for u, err := range c.tx.Utterances(time.Time{}, time.Time{}) {
		if err != nil {
			return err
		}
		if w.matchesUtterance(u) {
			c.takeUtterance(u)
		}
	}
	for _, id := range c.order {
		if m := c.memories[id]; w.matchesContent(m) {
			if err := c.takeMemory(w, m); err != nil {
				return err
			}
		}
	}
	if len(w.IDs) > 0 || w.Scope != nil {
		return nil
	}
	for o, err := range extract.DeferredEvents(c.tx) {
		if err != nil {
			return err
		}
		ev, place := &o.Event, ""
		if ev.Place != nil {
			place = ev.Place.Name
		}
		text := ev.Speaker + " " + place + " " + ev.Name
		if w.matchesTime(ev.At, ev.Received) && (w.Device == "" || ev.ID.Device == w.Device) && (w.Words == "" || containsWords(text, w.Words)) &&
			(w.Person == "" || containsName(text, w.Person)) && (w.Place == "" || containsName(place, w.Place)) {
			c.events[ev.ID] = true
		}
	}
	if err := c.takeQuarantined(w); err != nil || w.Place != "" {
		return err
	}
	return c.takeRefused(w, held)
}

// checkExists refuses an id that belongs to nothing.
func (c *chooser) checkExists(id memory.ID) error {
	if c.memories[id] != nil {
		return nil
	}
	if cold, err := c.cold(id); err != nil || cold {
		return err
	}
	_, err := c.tx.Utterance(id)
	return err
}

// takeMemory takes a memory. If the want has a time or a device, it takes only those of
// the memory's sources that match.
func (c *chooser) takeMemory(w *Want, m *memory.Memory) error {
	if !w.hasTimeOrDevice() {
		c.erased[m.ID] = true
		return nil
	}
	own, err := c.evidence(m)
	if err != nil {
		return err
	}
	if len(own) == 0 && w.Device == "" && w.inPeriod(m.Learnt) {
		c.erased[m.ID] = true
	}
	for i := range own {
		if e := &own[i]; w.matchesEvidence(e, m.Learnt) {
			if err := c.takeSource(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *chooser) takeUtterance(u *memory.Utterance) {
	c.utterances[u.ID] = u
	c.events[u.Event] = true
}

// takeSource takes the source of a piece of evidence: its utterance, or its event
// with everything that was said in it.
func (c *chooser) takeSource(e *memory.Evidence) error {
	if !e.Utterance.IsZero() {
		u, err := c.tx.Utterance(e.Utterance)
		if errors.Is(err, memory.ErrNotFound) { // retention has removed it, and only the excerpt is left
			c.utterances[e.Utterance] = nil
			return nil
		}
		if err == nil {
			c.takeUtterance(u)
		}
		return err
	}
	if e.Event.IsZero() {
		return nil
	}
	c.events[e.Event] = true
	for u, err := range c.tx.UtterancesOf(e.Event) {
		if err != nil {
			return err
		}
		c.takeUtterance(u)
	}
	return nil
}

// sourceTaken reports whether the source of a piece of evidence is taken.
func (c *chooser) sourceTaken(e *memory.Evidence) bool {
	if !e.Utterance.IsZero() {
		_, gone := c.utterances[e.Utterance]
		return gone
	}
	return !e.Event.IsZero() && c.events[e.Event]
}

// evidence returns a memory's own evidence, oldest first.
func (c *chooser) evidence(m *memory.Memory) ([]memory.Evidence, error) {
	if own, ok := c.evidenceCache[m.ID]; ok {
		return own, nil
	}
	as, err := c.tx.Assertions(m.ID)
	if err != nil {
		return nil, err
	}
	var own []memory.Evidence
	for i := range as {
		if a := &as[i]; a.Candidate != nil {
			own = append(own, a.Candidate.Evidence...)
		}
		own = append(own, as[i].Evidence...)
	}
	sorting.Stable(own, func(a, b memory.Evidence) int { return a.At.Compare(b.At) })
	c.evidenceCache[m.ID] = own
	return own, nil
}

// followAll follows the consequences until there are no more, and returns the result.
func (c *chooser) followAll(scope bool) (out Chosen, err error) {
	for again := true; again; {
		before := len(c.erased) + len(c.utterances) + len(c.events)
		if !scope && !c.keepSources {
			if err := c.takeSources(); err != nil {
				return out, err
			}
		}
		if err := c.followDerived(); err != nil {
			return out, err
		}
		again = len(c.erased)+len(c.utterances)+len(c.events) != before
	}
	if scope {
		if err := c.takeOrphans(); err != nil {
			return out, err
		}
	}
	return c.result()
}

// takeSources takes the sources of the memories that were taken.
func (c *chooser) takeSources() error {
	for id := range c.erased {
		own, err := c.evidence(c.memories[id])
		if err != nil {
			return err
		}
		for i := range own {
			if !c.sourceTaken(&own[i]) {
				if err := c.takeSource(&own[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// followDerived looks at the memories that were made from what was taken.
func (c *chooser) followDerived() error {
	for _, id := range c.order {
		m := c.memories[id]
		if c.erased[id] || !c.mayBeAffected(m) {
			continue
		}
		own, err := c.evidence(m)
		if err != nil {
			return err
		}
		var gone, left []memory.Evidence
		for i := range own {
			if c.sourceTaken(&own[i]) {
				gone = append(gone, own[i])
			} else {
				left = append(left, own[i])
			}
		}
		linked := slices.ContainsFunc(m.Links, c.pointsToTaken)
		if len(gone) == 0 && !linked {
			continue // the evidence belongs to a memory that repeats this one
		}
		lost, err := c.textOf(gone)
		if err != nil {
			return err
		}
		for _, l := range m.Links {
			if id, err := memory.ParseID(l.To); err == nil && c.erased[id] {
				lost += "\n" + texts(c.memories[id])
			}
		}
		kept, err := c.textOf(left)
		if err != nil {
			return err
		}
		if len(left) > 0 && canStay(m, lost, kept) {
			c.trimmed[id] = left
		} else {
			c.erased[id] = true
			delete(c.trimmed, id)
		}
	}
	return nil
}

// pointsToTaken reports whether a link points to something that was taken.
func (c *chooser) pointsToTaken(l memory.Link) bool {
	if id, err := memory.ParseID(l.To); err == nil {
		_, said := c.utterances[id]
		return c.erased[id] || said
	}
	e, err := memory.ParseEventID(l.To)
	return err == nil && c.events[e]
}

// mayBeAffected is a quick check whether anything of a memory may have to be forgotten.
// If there is much evidence, the memory shows only its beginning and end.
func (c *chooser) mayBeAffected(m *memory.Memory) bool {
	return len(m.Evidence) >= memory.MaxEvidence || slices.ContainsFunc(m.Links, c.pointsToTaken) ||
		slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return c.sourceTaken(&e) })
}

// textOf returns the text of pieces of evidence: the excerpts, and whole lines if
// they still exist.
func (c *chooser) textOf(es []memory.Evidence) (string, error) {
	var b strings.Builder
	for i := range es {
		fmt.Fprintln(&b, es[i].Excerpt)
		if es[i].Utterance.IsZero() {
			continue
		}
		u, err := c.tx.Utterance(es[i].Utterance)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, u.Text)
	}
	return b.String(), nil
}
