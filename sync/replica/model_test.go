package replica_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// modelSpace is a space with three owners, which all histories share, because nobody changes its
// log.
var modelSpace = sync.OnceValue(func() *maker {
	root, err := keyring.Recover(restorePhrase)
	if err != nil {
		panic(err)
	}
	key := seal.NewKey()
	return &maker{root: root, at: &shown{}, log: new(envelope.State), clock: 1_790_000_000_000, keys: seal.Epochs{1: key}}
})

func modelParties(t *testing.T) (*maker, []*author) {
	m := modelSpace()
	m.t = t
	var all []*author
	for n := byte(1); n <= 3; n++ {
		all = append(all, m.author(n, envelope.Owner))
	}
	if m.log.N() == 0 {
		m.entry(envelope.Entry{Action: envelope.Found, Root: m.root.Root(), Recovery: m.root.Identity().Recipient().String(), Member: m.member(all[0], nil)}, all[0])
		for _, a := range all[1:] {
			m.entry(envelope.Entry{Action: envelope.Add, Member: m.member(a, nil)}, a)
		}
	}
	return m, all
}

// peerOf is a member of the model.
type peerOf struct {
	*memJournal
	*replica.Replica
	line   *badLine
	at     modelLine // the line, or what a test puts before it
	party  *party
	broken bool // its disk failed, so that it is started again
	backup *memJournal
	every  uint64 // deltas between two snapshots; 0: none is made because of a count
}

// modelLine has the methods of a relay that a member of the model needs.
type modelLine interface {
	replica.Remote
	replica.Checkpoints
}

// start gives the member a new replica over its journal, as after a kill.
func (p *peerOf) start(t interface{ Fatal(...any) }, m *maker, temp string, compact bool) {
	r, err := replica.New(replica.Config{Space: p.party.space, Member: p.party.id, Genesis: m.at.log[0], Remote: p.at, Journal: p.memJournal, Keys: p.party, Temp: temp,
		Now:       func() time.Time { return time.Unix(1_790_000_100, 0) },
		Snapshots: &replica.Snapshots{Archive: p.memJournal, At: p.at, Every: p.every, Behind: 6, Compact: compact}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Replica != nil {
		p.Replica.Close()
	}
	p.Replica, p.broken = r, false
}

// newPeer returns a member with a line to a relay, which lies if rng is not nil.
func newPeer(relay *modelRelay, of *party, rng *rand.Rand, told map[string]int) *peerOf {
	p := &peerOf{party: of, every: 4, line: &badLine{modelRelay: relay, self: of.id, rng: rng, lies: rng != nil, told: told},
		memJournal: &memJournal{self: of.id, lines: newLines(), doubts: map[envelope.Hash]bool{}, fail: func() bool { return false }}}
	p.at = p.line
	return p
}

type syncModel struct {
	*rapid.T
	m      *maker
	relay  *modelRelay
	peers  []*peerOf
	rng    *rand.Rand
	told   map[string]int
	said   map[memory.ID]bool // acknowledged: a member has it on its disk
	erased map[memory.ID]bool // somebody forgot it
	lines  byte               // number of lines that were ever said
	temp   string
	faults bool

	compact bool // the relay removes what a verified snapshot covers
}

func (s *syncModel) start(p *peerOf) { p.start(s, s.m, s.temp, s.compact) }

// holds fails the test if an invariant is broken in the middle of a history.
func (s *syncModel) holds() {
	for _, p := range s.peers {
		for id := range p.erased {
			if p.live[id] != nil {
				s.Fatalf("%s has %s again, which it had forgotten", p.party.id, id)
			}
			if !s.erased[id] {
				s.Fatalf("%s has forgotten %s, and nobody said so", p.party.id, id)
			}
		}
	}
	for _, l := range s.relay.checkpoints {
		c, err := envelope.ParseCheckpoint(l.Checkpoint)
		if err != nil {
			s.Fatal(err)
		}
		for _, b := range l.Votes {
			v, err := envelope.ParseVote(b)
			if err != nil {
				s.Fatal(err)
			}
			why := s.whyOf(v.Member, c)
			// A member to which the relay gave other cursors is at another place than the author at
			// the same cursor.
			if cursors := strings.Contains(why, " there, and at ") || strings.Contains(why, "a chain that is not there"); v.Verdict != envelope.Agree && !cursors {
				s.Fatalf("%s objects to the honest snapshot of %s at %d: %s", v.Member, c.Author, c.Cursor, why)
			}
		}
	}
}

// problemsOf returns the last problems that a member has reported.
func (s *syncModel) problemsOf(id memory.MemberID) []replica.Problem {
	for _, p := range s.peers {
		if p.party.id == id {
			return p.problems[max(0, len(p.problems)-3):]
		}
	}
	return nil
}

// whyOf returns what a member has reported about a snapshot.
func (s *syncModel) whyOf(id memory.MemberID, c *envelope.Checkpoint) (out string) {
	for _, p := range s.peers {
		for _, problem := range p.problems {
			if p.party.id == id && strings.HasPrefix(problem.Reason, fmt.Sprintf("snapshot of %s at %d: ", c.Author, c.Cursor)) {
				out += problem.Reason + "\n"
			}
		}
	}
	return out
}

// folded returns what follows from the deltas up to a cursor, with the bodies that they came with.
func (s *syncModel) folded(upTo int) lines {
	out := newLines()
	for _, d := range s.relay.taken[:upTo] {
		padded, err := seal.OpenBody(s.m.keys[d.Header.Epoch], d.Body)
		if err != nil {
			s.Fatal(err)
		}
		ops, err := delta.Decode(&d.Header, padded)
		if err != nil {
			s.Fatal(err)
		}
		for i := range ops {
			out.take(&ops[i])
		}
	}
	return out
}

func (s *syncModel) step() {
	p := s.peers[rapid.IntRange(0, len(s.peers)-1).Draw(s.T, "who")]
	switch rapid.IntRange(0, 10).Draw(s.T, "does") {
	case 0, 1, 2:
		s.says(p)
	case 3:
		s.forgets(p)
	case 4:
		s.start(p) // killed
	case 5:
		s.putsBack(p)
	default:
		_ = p.Sync(s.Context()) // on a bad line, errors are expected
		if p.broken {
			s.start(p)
		}
	}
	s.holds()
}

func (s *syncModel) says(p *peerOf) {
	s.lines++
	id := memory.ID{s.lines, 1}
	p.say(delta.Op{Utterance: &memory.Utterance{ID: id, Space: p.party.space, Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(s.lines)},
		At: time.UnixMilli(1_790_000_000_000).UTC(), Text: fmt.Sprintf("Line %d.", s.lines)}})
	s.said[id] = true
}

// putsBack makes a backup, or restores the last one. Lines that only that disk had then count as
// never said.
func (s *syncModel) putsBack(p *peerOf) {
	if p.backup == nil {
		p.backup = p.memJournal.copied()
		return
	}
	p.backup.problems = p.problems // holds needs them
	p.memJournal, p.backup = p.backup, nil
	s.told["a backup is put back"]++
	s.start(p)
	all := s.folded(len(s.relay.taken))
	for _, o := range s.peers {
		maps.Copy(all.live, o.live)
		maps.Copy(all.erased, o.erased)
	}
	clear(s.said)
	clear(s.erased)
	for id := range all.live {
		s.said[id] = true
	}
	for id := range all.erased {
		s.said[id], s.erased[id] = true, true
	}
}

func (s *syncModel) forgets(p *peerOf) {
	var known []memory.ID
	for _, item := range p.items() {
		if item.Op.Utterance != nil {
			known = append(known, item.Op.Utterance.ID)
		}
	}
	if len(known) > 0 {
		id := rapid.SampledFrom(known).Draw(s.T, "forgets")
		p.say(delta.Op{Forget: &delta.Forget{Utterances: []memory.ID{id}}})
		s.erased[id] = true
	}
}

// agrees compares all members with what was said, after the line was good for a while.
func (s *syncModel) agrees() error {
	var errs []error
	want := s.folded(len(s.relay.taken))
	for _, p := range s.peers {
		if !reflect.DeepEqual(p.items(), want.items()) {
			errs = append(errs, fmt.Errorf("%s has %d lines and %d erased, and the deltas say %d and %d: %+v", p.party.id, len(p.live), len(p.erased), len(want.live), len(want.erased), s.problemsOf(p.party.id)))
		}
		if len(p.outbox) > 0 {
			errs = append(errs, fmt.Errorf("%s: %d wait", p.party.id, len(p.outbox)))
		}
		for id := range s.said {
			if has := p.live[id] != nil; has == s.erased[id] {
				errs = append(errs, fmt.Errorf("%s: %s: there %t, forgotten %t", p.party.id, id, has, s.erased[id]))
			}
		}
	}
	return errors.Join(append(errs, s.relay.stillHas(s.m, s.erased))...)
}

// TestSyncModel generates histories of three owners over a relay that drops, reorders, repeats and
// lies, with disks that fail, snapshots and compaction, and checks the invariants of
// docs/protocol.md. The third joins late. Without -rapid.seed, the histories are the same in each
// run; docs/proof.md says what other seeds have found.
func TestSyncModel(t *testing.T) {
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		defer func() { _ = seed.Value.Set("0") }()
		if err := seed.Value.Set("1"); err != nil {
			t.Fatal(err)
		}
	}
	m, parties := modelParties(t)
	told := map[string]int{}
	snapshots, compacted, histories := 0, 0, 0
	temp := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s := &syncModel{T: rt, m: m, relay: newModelRelay(m.at.log, m.log), told: told, said: map[memory.ID]bool{}, erased: map[memory.ID]bool{}, temp: temp, faults: true,
			rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), compact: rapid.IntRange(0, 3).Draw(rt, "compacts") > 0}
		s.relay.check = func(c *envelope.Checkpoint) {
			snapshots++
			want := s.folded(int(c.Cursor))
			for _, p := range s.peers {
				if p.party.id == c.Author && !reflect.DeepEqual(p.items(), want.items()) {
					rt.Fatalf("the snapshot at %d of %s is not what the deltas say", c.Cursor, c.Author)
				}
			}
		}
		join := func(a *author) *peerOf {
			p := newPeer(s.relay, a.party, s.rng, told)
			p.fail = func() bool {
				if s.faults && s.rng.IntN(60) == 0 {
					p.broken = true
					told["the disk fails"]++
				}
				return p.broken
			}
			s.start(p)
			s.peers = append(s.peers, p)
			return p
		}
		join(parties[0])
		join(parties[1])
		for range rapid.IntRange(4, 40).Draw(rt, "steps") {
			s.step()
		}
		join(parties[2]) // it joins late
		for range rapid.IntRange(0, 10).Draw(rt, "steps after") {
			s.step()
		}
		s.faults = false
		for _, p := range s.peers {
			p.line.lies = false
			s.says(p) // a relay that moved a cursor has hidden the ends of chains until more is said
		}
		var last error
		for round := range 100 {
			last = nil
			for _, p := range s.peers {
				if p.broken || round%10 == 0 { // a new replica reads the list of snapshots; the relay wakes a running one for it
					s.start(p)
				}
				last = errors.Join(last, p.Sync(rt.Context()))
				s.holds()
			}
			if last = errors.Join(last, s.agrees()); last == nil {
				break
			}
		}
		if last != nil {
			rt.Fatalf("they don't agree after 100 good rounds: %v", last)
		}
		for _, p := range s.peers {
			p.Replica.Close()
		}
		for _, bare := range s.relay.bare {
			if bare {
				compacted++
			}
		}
		histories++
	})
	t.Logf("%d histories, %d snapshots, %d bodies gone at their ends; lies: %v", histories, snapshots, compacted, told)
}
