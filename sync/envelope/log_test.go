package envelope

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestLog(t *testing.T) {
	h := household(t)
	s := h.state
	if s.N() != 4 || s.Epoch() != 1 || s.Space() != space || s.Recovery() != "age1pq1recovery" || !bytes.Equal(s.Root(), theRoot.public()) {
		t.Errorf("state %+v", s)
	}
	if m, ok := s.Member(phone.id); !ok || m.Role != Writer {
		t.Errorf("phone: %+v %v", m, ok)
	}
	if m, ok := s.Member(worker.id); !ok || !bytes.Equal(m.Key, worker.public()) {
		t.Errorf("worker: %+v", m)
	}
	before := s.Head()
	h.append(glasses, h.removal(worker, Position{Incarnation: 5, Seq: 9}))
	h.append(theRoot, &Entry{Action: Rekey, Epoch: 3, Wraps: wrapTo(theRoot.id, glasses.id, phone.id, reader.id)})
	if s.Epoch() != 3 || len(s.Members()) != 3 || s.EpochBegan() != 1_790_000_006 {
		t.Errorf("epoch %d from %d, %d members", s.Epoch(), s.EpochBegan(), len(s.Members()))
	}
	if _, ok := s.Member(worker.id); ok {
		t.Error("the removed is found")
	}
	if m, last, ok := s.Past(worker.id); !ok || m.Role != Extractor || !slices.Equal(last, []Position{{5, 9}}) {
		t.Errorf("past worker: %+v %v %v", m, last, ok)
	}
	if n, ok := s.knows(before); !ok || n != 4 {
		t.Errorf("entry 4 is %d, %v", n, ok)
	}
	var wire []*Entry
	for _, e := range h.entries {
		got, err := ParseEntry(e.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		wire = append(wire, got)
	}
	again, err := VerifyLog(wire)
	if err != nil || again.Head() != s.Head() {
		t.Errorf("from the wire: %v", err)
	}
}

// Each row tries an entry after the household's log. The household's owner is
// the glasses.
func TestLogRules(t *testing.T) {
	all := func(but ...memory.MemberID) []Wrap {
		ids := []memory.MemberID{theRoot.id, glasses.id, phone.id, worker.id, reader.id}
		return wrapTo(slices.DeleteFunc(ids, func(id memory.MemberID) bool { return slices.Contains(but, id) })...)
	}
	add := func(by, who actor, role Role, f func(*Entry)) func(*history) (actor, *Entry) {
		return func(*history) (actor, *Entry) {
			e := &Entry{Action: Add, Epoch: 1, Member: who.member(role), Wraps: wrapTo(who.id)}
			if f != nil {
				f(e)
			}
			return by, e
		}
	}
	remove := func(by, who actor, f func(*Entry)) func(*history) (actor, *Entry) {
		return func(h *history) (actor, *Entry) {
			e := h.removal(who)
			if f != nil {
				f(e)
			}
			return by, e
		}
	}
	rekey := func(by actor, epoch uint32, wraps []Wrap) func(*history) (actor, *Entry) {
		return func(*history) (actor, *Entry) { return by, &Entry{Action: Rekey, Epoch: epoch, Wraps: wraps} }
	}
	twoOwners := func(next func(*history) (actor, *Entry)) func(*history) (actor, *Entry) {
		return func(h *history) (actor, *Entry) {
			h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: other.member(Owner), Wraps: wrapTo(other.id)})
			return next(h)
		}
	}
	without := func(who actor, next func(*history) (actor, *Entry)) func(*history) (actor, *Entry) {
		return func(h *history) (actor, *Entry) {
			h.append(theRoot, h.removal(who))
			return next(h)
		}
	}
	for name, c := range map[string]struct {
		try  func(*history) (actor, *Entry)
		want error
	}{
		"owner adds a writer":         {add(glasses, other, Writer, nil), nil},
		"owner adds an owner":         {add(glasses, other, Owner, nil), nil},
		"root adds an owner":          {add(theRoot, other, Owner, nil), nil},
		"writer adds":                 {add(phone, other, Reader, nil), ErrRule},
		"worker adds":                 {add(worker, other, Reader, nil), ErrRule},
		"reader adds":                 {add(reader, other, Reader, nil), ErrRule},
		"a stranger adds itself":      {add(other, other, Owner, nil), ErrRule},
		"an id twice":                 {add(glasses, phone, Writer, nil), ErrRule},
		"a key twice":                 {add(glasses, other, Writer, func(e *Entry) { e.Member.Key = phone.public() }), ErrRule},
		"the root as a member":        {add(theRoot, other, Writer, func(e *Entry) { e.Member.Key = theRoot.public() }), ErrRule},
		"an addition with an epoch":   {add(glasses, other, Writer, func(e *Entry) { e.Epoch = 2 }), ErrRule},
		"keys for another":            {add(glasses, other, Writer, func(e *Entry) { e.Wraps = wrapTo(worker.id) }), ErrRule},
		"keys for another too":        {add(glasses, other, Writer, func(e *Entry) { e.Wraps = wrapTo(worker.id, other.id) }), ErrRule},
		"a removed id comes back":     {without(worker, add(glasses, worker, Extractor, func(e *Entry) { e.Epoch = 2 })), ErrRule},
		"a removed key comes back":    {without(worker, add(glasses, other, Extractor, func(e *Entry) { e.Epoch, e.Member.Key = 2, worker.public() })), ErrRule},
		"owner removes a worker":      {remove(glasses, worker, nil), nil},
		"owner removes an owner":      {twoOwners(remove(glasses, other, nil)), ErrRule},
		"root removes an owner":       {twoOwners(remove(theRoot, other, nil)), nil},
		"root removes the last owner": {remove(theRoot, glasses, nil), nil},
		"writer removes itself":       {remove(phone, phone, nil), ErrRule},
		"worker removes the owner":    {remove(worker, glasses, nil), ErrRule},
		"remove a stranger":           {remove(glasses, other, nil), ErrRule},
		"remove twice":                {without(worker, remove(glasses, worker, nil)), ErrRule},
		"a removal in its epoch":      {remove(glasses, worker, func(e *Entry) { e.Epoch = 1 }), ErrRule},
		"a removal skips an epoch":    {remove(glasses, worker, func(e *Entry) { e.Epoch = 3 }), ErrRule},
		"the removed gets the keys":   {remove(glasses, worker, func(e *Entry) { e.Wraps = all() }), ErrRule},
		"one who stays gets none":     {remove(glasses, worker, func(e *Entry) { e.Wraps = all(worker.id, phone.id) }), ErrRule},
		"recovery gets none":          {remove(glasses, worker, func(e *Entry) { e.Wraps = all(worker.id, theRoot.id) }), ErrRule},
		"owner begins an epoch":       {rekey(glasses, 2, all()), nil},
		"writer begins an epoch":      {rekey(phone, 2, all()), ErrRule},
		"an epoch again":              {rekey(glasses, 1, all()), ErrRule},
		"a removed owner begins one":  {without(glasses, rekey(glasses, 3, all(glasses.id))), ErrRule},
	} {
		t.Run(name, func(t *testing.T) {
			h := household(t)
			by, e := c.try(h)
			head := h.state.Head()
			err := h.state.Append(h.sign(by, e))
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err != nil && h.state.Head() != head {
				t.Error("refused, and changed the state")
			}
		})
	}
}

func TestFoundingRules(t *testing.T) {
	for name, f := range map[string]func(*Entry){
		"a writer founds":   func(e *Entry) { e.Member.Role = Writer },
		"in epoch 2":        func(e *Entry) { e.Epoch = 2 },
		"the root's member": func(e *Entry) { e.Member.Key = theRoot.public() },
		"no recovery keys":  func(e *Entry) { e.Wraps = wrapTo(glasses.id) },
	} {
		h := &history{t: t, state: new(State)}
		e := founding()
		f(e)
		if err := h.state.Append(h.sign(theRoot, e)); !errors.Is(err, ErrRule) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := &history{t: t, state: new(State)}
	e := h.sign(theRoot, founding())
	e.Signature, _ = KeySigner(glasses.key)(DomainLog, e.body())
	if err := h.state.Append(e); !errors.Is(err, ErrSignature) {
		t.Errorf("signed by the member: %v", err)
	}
}

func TestLogForksAndGaps(t *testing.T) {
	h := household(t)
	twin := &history{t: t, state: h.state.Clone()}
	ours := h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: other.member(Reader), Wraps: wrapTo(other.id)})
	theirs := twin.append(glasses, twin.removal(reader))
	after := twin.append(glasses, &Entry{Action: Rekey, Epoch: 3, Wraps: wrapTo(theRoot.id, glasses.id, phone.id, worker.id)})

	if err := h.state.Append(ours); !errors.Is(err, ErrKnown) {
		t.Errorf("again: %v", err)
	}
	var fork *ForkError
	if err := h.state.Append(theirs); !errors.As(err, &fork) || fork.At != 5 || fork.Ours != ours.Hash() || fork.Theirs != theirs.Hash() {
		t.Errorf("another fifth: %v", err)
	}
	if err := h.state.Append(after); !errors.As(err, &fork) || fork.At != 5 || fork.Ours != ours.Hash() || fork.Theirs != theirs.Hash() {
		t.Errorf("the one after another fifth: %v", err)
	}
	fresh, err := VerifyLog(h.entries[:3])
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Append(ours); !errors.Is(err, ErrGap) {
		t.Errorf("fifth on three: %v", err)
	}
	if _, err := VerifyLog(h.entries[1:]); !errors.Is(err, ErrGap) {
		t.Errorf("without the first: %v", err)
	}
	elsewhere := *ours
	elsewhere.Space[0]++
	elsewhere.N++
	elsewhere.Prev = h.state.Head()
	if err := elsewhere.Sign(KeySigner(glasses.key)); err != nil {
		t.Fatal(err)
	}
	if err := h.state.Append(&elsewhere); !errors.Is(err, ErrRule) {
		t.Errorf("another space: %v", err)
	}
}

// In a chain, everything counts that its author sent as a member; of a removed
// member, everything that the removal accepts.
func TestCounted(t *testing.T) {
	h := household(t)
	first := h.delta(worker, nil, "w").Header.Position()
	second, later, elsewhere := first, first, first
	second.Seq, later.Seq, elsewhere.Incarnation = 2, 9, first.Incarnation+1
	before := h.state.Clone()
	h.append(glasses, h.removal(worker, second))
	for name, c := range map[string]struct {
		state    *State
		by       actor
		of, want Position
	}{
		"of who belongs":                  {h.state, phone, later, later},
		"before it was removed":           {before, worker, later, later},
		"of the removed, before its last": {h.state, worker, first, first},
		"of the removed, its last":        {h.state, worker, second, second},
		"of the removed, after":           {h.state, worker, later, second},
		"of the removed, in another life": {h.state, worker, elsewhere, Position{Incarnation: elsewhere.Incarnation}},
		"of a stranger":                   {h.state, other, later, later},
	} {
		if got := c.state.CountedPosition(c.by.id, c.of); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAcceptsDelta(t *testing.T) {
	h := household(t)
	atFour := h.state.Clone()
	before := *h
	before.state = atFour
	fromPhone, fromWorker, fromReader := h.delta(phone, nil, "p"), h.delta(worker, nil, "w"), h.delta(reader, nil, "r")
	w2 := h.delta(worker, &fromWorker.Header, "w2")
	w3 := h.delta(worker, &w2.Header, "w3")
	h.append(glasses, h.removal(worker, w2.Header.Position()))
	knowing := h.delta(worker, &fromWorker.Header, "knew")
	newEpoch := h.delta(phone, &fromPhone.Header, "p2")
	oldHead := h.delta(phone, &fromPhone.Header, "p2")
	oldHead.Header.Head = atFour.Head()

	otherLife := fromWorker.Header
	otherLife.Incarnation++
	stranger := h.delta(other, nil, "o")
	strange := fromPhone.Header
	strange.Space[0]++
	early := fromPhone.Header
	early.Head = h.entries[0].Hash()
	for name, c := range map[string]struct {
		state *State
		h     *Header
		by    actor
		want  error
	}{
		"of a writer":                     {h.state, &fromPhone.Header, phone, nil},
		"of a worker":                     {atFour, &fromWorker.Header, worker, nil},
		"of the removed, before":          {h.state, &fromWorker.Header, worker, nil},
		"of the removed, its last":        {h.state, &w2.Header, worker, nil},
		"of the removed, after":           {h.state, &w3.Header, worker, ErrRule},
		"of the removed, who knew":        {h.state, &knowing.Header, worker, ErrRule},
		"of the removed, in another life": {h.state, &otherLife, worker, ErrRule},
		"of a reader":                     {h.state, &fromReader.Header, reader, ErrRule},
		"of a stranger":                   {h.state, &stranger.Header, other, ErrRule},
		"before it was a member":          {h.state, &early, phone, ErrRule},
		"in the new epoch":                {h.state, &newEpoch.Header, phone, nil},
		"at a head to come":               {atFour, &newEpoch.Header, phone, ErrUnknownHead},
		"the new epoch at the old head":   {h.state, &oldHead.Header, phone, ErrRule},
		"of another space":                {h.state, &strange, phone, ErrRule},
		"signed by another":               {h.state, &fromPhone.Header, glasses, ErrSignature},
		"before there is a log":           {new(State), &fromPhone.Header, phone, ErrRule},
	} {
		sig, err := KeySigner(c.by.key)(DomainDelta, c.h.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.state.Accepts(c.h, sig); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A space with the greatest number of members fits its limits, with recipients
// and wraps of the size of hybrid keys.
func TestLargestSpaceFits(t *testing.T) {
	h := &history{t: t, state: new(State)}
	h.append(theRoot, founding())
	for i := 1; i < MaxMembers; i++ {
		who := newActor("m" + string(rune('A'+i)))
		h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: who.member(Reader), Wraps: wrapTo(who.id)})
	}
	extra := h.sign(glasses, &Entry{Action: Add, Epoch: 1, Member: other.member(Reader), Wraps: wrapTo(other.id)})
	if err := h.state.Append(extra); !errors.Is(err, ErrRule) {
		t.Errorf("one more than %d: %v", MaxMembers, err)
	}
	ids := []memory.MemberID{{}}
	for _, m := range h.state.Members() {
		ids = append(ids, m.ID)
	}
	e := &Entry{Action: Rekey, Epoch: 2, Wraps: wrapTo(ids...)}
	for i := range e.Wraps {
		e.Wraps[i].Keys = make([]byte, 1659+53)
	}
	h.append(glasses, e)
	if n := len(e.Bytes()); n > MaxEntry {
		t.Errorf("%d bytes, at most %d", n, MaxEntry)
	}
}

func FuzzParse(f *testing.F) {
	h := household(f)
	f.Add(h.delta(phone, nil, "body").Bytes())
	f.Add(h.delta(phone, nil, "body").WithoutBody().Bytes())
	for _, e := range h.entries {
		f.Add(e.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := ParseDelta(b); err == nil && !bytes.Equal(d.Bytes(), b) {
			t.Errorf("delta has two forms: %x", b)
		}
		e, err := ParseEntry(b)
		if err != nil {
			return
		}
		if !bytes.Equal(e.Bytes(), b) {
			t.Errorf("entry has two forms: %x", b)
		}
		s, err := VerifyLog(h.entries[:2])
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(e); err == nil && e.Hash() != h.entries[2].Hash() {
			t.Errorf("took what nobody signed: %x", b)
		}
	})
}
