package community

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// A note is a proposal with one of these under the key metaKind of its metadata. A
// proposal without it is an item. metaOf has what a note is about.
const (
	metaKind = "community"
	metaOf   = "of"

	noteRules     = "rules"     // the text; only by the owner
	noteRemoval   = "removal"   // the id of an item or member, with the reason; by an owner or moderator
	noteQuestion  = "question"  // the text
	noteAnswer    = "answer"    // an item that answers a question's id
	noteCandidate = "candidate" // a request to join, with the name under metaOf
	noteFee       = "fee"       // what the entry costs, and where it is paid; only by the owner
	noteLeaving   = "leaving"   // its author asks to be removed from the log
)

// The roles, as they are shown. The membership log has owners and writers: its first
// member is the community's owner, and its other owners are moderators.
const (
	roleOwner     = "owner"
	roleModerator = "moderator"
	roleMember    = "member"
)

// The deeds in the log.
const (
	didFound  = "founded"
	didAdmit  = "let in"
	didPutOut = "put out"
	didLeave  = "left"
	didRule   = "set the rules"
	didFee    = "set the fee"
	didRemove = "removed"
	didUndo   = "restored"
)

// person is a present or former member.
type person struct {
	serve.CommunityMember
	key     []byte
	removed bool
	by      memory.MemberID // the signer of the removal
	deed    int             // index in the log of the deed that removed this person
	undone  bool            // removed with a reason, so that this person's removals don't count
}

func (p *person) moderates() bool { return p.Role == roleOwner || p.Role == roleModerator }

// seen is a view that is being made.
type seen struct {
	v         serve.CommunityView
	me        memory.MemberID
	founder   memory.MemberID
	people    map[memory.MemberID]*person
	removed   map[string]serve.CommunityDeed // by the id of what was removed
	removals  map[string]string              // notes that remove items, with what they remove, by their ids
	undone    map[string]bool                // removals that the owner removed
	questions map[string]*serve.CommunityQuestion
}

// authorOf returns the member to whom an id belongs: see wall.
func authorOf(id memory.ID) (m memory.MemberID) {
	copy(m[:], id[:])
	return m
}

// see makes the view of a member from the entries of the membership log and everything
// that was said. It is a pure function, and the order of said does not matter.
func see(me memory.MemberID, entries []*envelope.Entry, name func(*envelope.Member) string, said []memory.Memory) serve.CommunityView {
	s := seen{me: me, people: map[memory.MemberID]*person{}, removed: map[string]serve.CommunityDeed{}, removals: map[string]string{}, undone: map[string]bool{}, questions: map[string]*serve.CommunityQuestion{}}
	for _, e := range entries {
		s.entry(e, name)
	}
	said = slices.DeleteFunc(slices.Clone(said), func(m memory.Memory) bool { return s.people[authorOf(m.ID)] == nil })
	sorting.Sort(said, func(a, b memory.Memory) int {
		return cmp.Or(a.Learnt.Compare(b.Learnt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i := range said {
		s.removal(&said[i])
	}
	for i := range said {
		s.note(&said[i])
	}
	for i := range said {
		s.question(&said[i])
	}
	for i := range said {
		s.item(&said[i])
	}
	return s.view(said)
}

// entry processes one entry of the membership log.
func (s *seen) entry(e *envelope.Entry, name func(*envelope.Member) string) {
	d, author := serve.CommunityDeed{At: time.Unix(e.At, 0).UTC()}, e.Author
	if (author == memory.MemberID{}) {
		author = s.founder // the root is the founder's
	}
	if by := s.people[author]; by != nil {
		d.By = by.Name
	}
	switch e.Action {
	case envelope.Found, envelope.Add:
		p := &person{key: e.Member.Key, CommunityMember: serve.CommunityMember{Member: e.Member.ID, Name: cmp.Or(name(e.Member), "member "+e.Member.ID.String()[:8]), Role: roleMember,
			Words: share.Words(e.Member.Key), You: e.Member.ID == s.me}}
		d.Did = didAdmit
		switch {
		case e.Action == envelope.Found:
			p.Role, d.Did, d.By, s.founder = roleOwner, didFound, p.Name, p.Member
		case e.Member.Role == envelope.Owner && author == s.founder:
			p.Role = roleModerator
		case e.Member.Role == envelope.Owner:
			d.Why = "as a moderator, which only the owner may do; counts as a member"
		}
		d.What, s.people[p.Member] = p.Name, p
	case envelope.Remove:
		p := s.people[*e.Removed]
		p.removed, p.by, p.deed = true, author, len(s.v.Log)
		d.Did, d.What = didPutOut, p.Name
	default:
		return
	}
	s.v.Log = append(s.v.Log, d)
}

// removal processes what must be known before removals are counted: the reasons why
// members were removed, which only the signer of the removal may give, and which removals
// the owner removed.
func (s *seen) removal(m *memory.Memory) {
	if m.Metadata[metaKind] != noteRemoval {
		return
	}
	of, author := m.Metadata[metaOf], authorOf(m.ID)
	switch out := s.memberOf(of); {
	case out == nil:
		s.removals[m.ID.String()] = of
		s.undone[of] = s.undone[of] || author == s.founder
	case out.removed && out.by == author && s.v.Log[out.deed].Why == "":
		s.v.Log[out.deed].Why, out.undone = m.Text, true
	}
}

// note processes what decides about statements of others: rules and removals.
func (s *seen) note(m *memory.Memory) {
	p := s.people[authorOf(m.ID)]
	d := serve.CommunityDeed{At: m.Learnt, By: p.Name, ID: m.ID}
	switch of := m.Metadata[metaOf]; m.Metadata[metaKind] {
	case noteRules:
		if p.Role != roleOwner {
			return
		}
		s.v.Rules, d.Did, d.What = m.Text, didRule, m.Text
		s.v.Log = append(s.v.Log, d)
	case noteFee:
		if p.Role != roleOwner {
			return
		}
		s.v.Fee, d.Did, d.What = m.Text, didFee, m.Text
		if m.Text == noFee {
			s.v.Fee = ""
		}
		s.v.Log = append(s.v.Log, d)
	case noteRemoval:
		if !p.moderates() {
			return
		}
		if s.memberOf(of) != nil {
			return
		}
		d.Did, d.Why, d.What = didRemove, m.Text, of
		item, undoes := s.removals[of]
		_, already := s.removed[of]
		switch {
		case undoes && p.Role != roleOwner:
			return
		case undoes:
			d.Did, d.What = didUndo, item
		case p.undone || s.undone[m.ID.String()] && p.Role != roleOwner: // it is only listed in the log
		case already:
			return
		default:
			s.removed[of] = d
		}
		s.v.Log = append(s.v.Log, d)
	case noteLeaving:
		if p.removed && s.v.Log[p.deed].Why == "" {
			s.v.Log[p.deed].Did = didLeave
		}
		p.Leaving = true
	}
}

func (s *seen) memberOf(text string) *person {
	var id memory.MemberID
	if id.UnmarshalText([]byte(text)) != nil {
		return nil
	}
	return s.people[id]
}

func (s *seen) toAPI(m *memory.Memory) serve.CommunityItem {
	p := s.people[authorOf(m.ID)]
	return serve.CommunityItem{ID: m.ID, By: p.Name, At: m.Learnt, Type: m.Type, Text: m.Text, You: p.You}
}

// out returns why an item is hidden; empty: it is shown.
func (s *seen) out(m *memory.Memory) string {
	if d, is := s.removed[m.ID.String()]; is {
		return d.Why + " (" + d.By + ")"
	}
	if p := s.people[authorOf(m.ID)]; p.removed {
		return p.Name + " is no longer a member"
	}
	return ""
}

// question processes questions and proposed members. A question that was removed has no
// answers.
func (s *seen) question(m *memory.Memory) {
	p := s.people[authorOf(m.ID)]
	switch m.Metadata[metaKind] {
	case noteQuestion:
		if why := s.out(m); why == "" {
			s.questions[m.ID.String()] = &serve.CommunityQuestion{CommunityItem: s.toAPI(m), Answers: []serve.CommunityItem{}}
		} else {
			s.hide(m, why)
		}
	case noteCandidate:
		r, err := envelope.ParseRequest(m.Text)
		known := func(o serve.CommunityMember) bool { return o.Key == m.Text }
		if err != nil || p.removed || slices.ContainsFunc(s.v.Waiting, known) {
			return
		}
		for _, o := range s.people {
			if bytes.Equal(o.key, r.Key) {
				return
			}
		}
		s.v.Waiting = append(s.v.Waiting, serve.CommunityMember{Name: m.Metadata[metaOf], Words: share.Words(r.Key), Key: m.Text, By: p.Name})
	}
}

func (s *seen) hide(m *memory.Memory, why string) {
	it := s.toAPI(m)
	it.Why = why
	if d, is := s.removed[m.ID.String()]; is {
		it.Removal, it.Yours = d.ID, authorOf(d.ID) == s.me
	}
	s.v.Removed = append(s.v.Removed, it)
}

// item processes items and answers.
func (s *seen) item(m *memory.Memory) {
	kind := m.Metadata[metaKind]
	if kind != "" && kind != noteAnswer {
		return
	}
	switch why, q := s.out(m), s.questions[m.Metadata[metaOf]]; {
	case why != "":
		s.hide(m, why)
	case kind == "":
		s.v.Items = append(s.v.Items, s.toAPI(m))
	case q != nil:
		q.Answers = append(q.Answers, s.toAPI(m))
	}
}

// view returns the view, in an order that depends only on its content.
func (s *seen) view(said []memory.Memory) serve.CommunityView {
	v := &s.v
	for _, p := range s.people {
		if !p.removed {
			v.Members = append(v.Members, p.CommunityMember)
		}
	}
	sorting.Sort(v.Members, func(a, b serve.CommunityMember) int { return a.Member.Compare(b.Member) })
	if me := s.people[s.me]; me != nil {
		v.Role = me.Role
	}
	v.People, v.Count = len(v.Members), len(v.Items)
	for i := range said {
		if q := s.questions[said[i].ID.String()]; q != nil {
			q.Former = s.former(q.At)
			q.Knows = knows(v.People, q.Former)
			v.Questions = append(v.Questions, *q)
			v.Count += len(q.Answers)
		}
	}
	sorting.Stable(v.Log, func(a, b serve.CommunityDeed) int { return a.At.Compare(b.At) })
	v.Members, v.Waiting, v.Items, v.Removed, v.Questions = serve.NonNil(v.Members), serve.NonNil(v.Waiting), serve.NonNil(v.Items), serve.NonNil(v.Removed), serve.NonNil(v.Questions)
	return *v
}

// knows says who may know the question and the answers.
func knows(members, former int) string {
	more := ""
	if former > 0 {
		more = fmt.Sprintf(", and the %d who could read it before leaving or being put out,", former)
	}
	return fmt.Sprintf("The %d members%s know what was asked, who asked, and each answer; whoever joins later can read it, too. The relay sees that a member sent something, and its size.", members, more)
}

// former returns how many could read what was said at a time, and are no longer members.
func (s *seen) former(at time.Time) int {
	n := 0
	for _, p := range s.people {
		if p.removed && !s.v.Log[p.deed].At.Before(at.Truncate(time.Second)) {
			n++
		}
	}
	return n
}
