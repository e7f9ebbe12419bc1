package community

import (
	"errors"
	"flag"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/upstream"
)

// machine is a community with a model of it.
type machine struct {
	t     *rapid.T
	homes []*home
	id    string
	link  string

	role  []string          // of each home; empty: not admitted yet
	out   []bool            // removed
	items map[string]int    // the items that are shown, by text, with their authors
	gone  map[string]bool   // removed with a reason
	undo  []map[string]int  // by the remover, with the items' authors: shown again when the remover is removed
	later []map[string]bool // what was said after each home was removed
}

// A random community does what its roles allow and nothing else. A removed member
// never decrypts what is said later, even if the relay hands over everything; and
// all who remain see the same.
func TestThreatPutOutOfACommunity(t *testing.T) {
	for name, value := range map[string]string{"rapid.checks": "4"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
		}
	}
	url := serveRelay(t)
	clock := new(ticks)
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{t: rt, items: map[string]int{}, gone: map[string]bool{}, role: make([]string, 5), out: make([]bool, 5), later: make([]map[string]bool, 5), undo: make([]map[string]int, 5)}
		for range m.role {
			m.homes = append(m.homes, newHome(t, url, clock))
		}
		v := must[serve.CommunityView](rt)(m.homes[0].FoundCommunity(t.Context(), m.homes[0].founder, serve.NewCommunity{Name: "All"}))
		m.id, m.link, m.role[0] = v.ID.String(), v.Link, roleOwner
		for range rapid.IntRange(8, 24).Draw(rt, "steps") {
			who := rapid.SampledFrom(m.members()).Draw(rt, "who")
			switch rapid.SampledFrom([]string{"invite", "post", "post", "post", "remove", "put out", "read"}).Draw(rt, "what") {
			case "invite":
				m.invite(t, who)
			case "post":
				m.post(t, who)
			case "remove":
				m.remove(t, who)
			case "put out":
				m.putOut(t, who)
			case "read":
				m.check(t, who)
			}
		}
		for _, who := range m.members() {
			m.check(t, who)
		}
		m.attack(t)
	})
}

func (m *machine) members() (out []int) {
	for i := range m.role {
		if m.role[i] != "" && !m.out[i] {
			out = append(out, i)
		}
	}
	return out
}

func name(i int) string { return string(rune('A' + i)) }

func (m *machine) invite(t *testing.T, who int) {
	i := slices.Index(m.role, "")
	if i < 0 {
		return
	}
	r := serve.CommunityInvite{Who: name(i) + "=" + m.homes[i].request(m.t), Moderator: rapid.Bool().Draw(m.t, "moderator")}
	v, err := m.homes[who].Invite(t.Context(), m.id, r)
	if r.Moderator && m.role[who] != roleOwner {
		if !errors.Is(err, serve.ErrForbidden) {
			m.t.Fatalf("a %s appoints a moderator: %v", m.role[who], err)
		}
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if m.role[who] == roleMember {
		if !slices.ContainsFunc(v.Waiting, func(w serve.CommunityMember) bool { return w.Name == name(i) }) {
			m.t.Fatalf("nobody waits: %+v", v.Waiting)
		}
		return
	}
	if m.role[i] = roleMember; r.Moderator {
		m.role[i] = roleModerator
	}
	must[serve.CommunityView](m.t)(m.homes[i].Join(t.Context(), m.link, "All"))
}

func (m *machine) post(t *testing.T, who int) {
	h, text := m.homes[who], "item "+randomText()
	h.remember(text, text)
	must[serve.CommunityView](m.t)(h.Add(t.Context(), h.giver, m.id, tagged(text)))
	m.items[text] = who
	for i := range m.out {
		if m.out[i] {
			m.later[i][text] = true
		}
	}
}

func (m *machine) remove(t *testing.T, who int) {
	if len(m.items) == 0 {
		return
	}
	text := rapid.SampledFrom(slices.Sorted(maps.Keys(m.items))).Draw(m.t, "item")
	v := must[serve.CommunityView](m.t)(m.homes[who].Show(t.Context(), m.id))
	_, err := m.homes[who].Remove(t.Context(), m.id, serve.CommunityRemoval{What: idOf(m.t, v.Items, text), Reason: "because"}, nil)
	own := m.items[text] == who
	if !own && m.role[who] == roleMember {
		if !errors.Is(err, serve.ErrForbidden) {
			m.t.Fatalf("a member removes another's item: %v", err)
		}
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if !own {
		m.gone[text] = true
		if m.undo[who] == nil {
			m.undo[who] = map[string]int{}
		}
		m.undo[who][text] = m.items[text]
	}
	delete(m.items, text)
}

func (m *machine) putOut(t *testing.T, who int) {
	whom := rapid.SampledFrom(m.members()).Draw(m.t, "whom")
	if whom == who {
		return
	}
	_, err := m.homes[who].Remove(t.Context(), m.id, serve.CommunityRemoval{What: m.homes[whom].member(m.t, m.id).String(), Reason: "because"}, m.homes[who].founder.Root)
	if m.role[who] == roleMember || m.role[whom] != roleMember && m.role[who] != roleOwner {
		if !errors.Is(err, serve.ErrForbidden) {
			m.t.Fatalf("a %s puts a %s out: %v", m.role[who], m.role[whom], err)
		}
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.out[whom], m.later[whom] = true, map[string]bool{}
	for text, of := range m.undo[whom] {
		if !m.out[of] {
			m.items[text] = of
			delete(m.gone, text)
		}
	}
	for text, of := range m.items {
		if of == whom {
			delete(m.items, text)
			m.gone[text] = true
		}
	}
	if _, err := m.homes[whom].Show(t.Context(), m.id); !errors.Is(err, ErrNotMember) {
		m.t.Fatalf("who was put out reads on: %v", err)
	}
}

// member returns a home's member id in the community.
func (h *home) member(t fataler, id string) memory.MemberID {
	d, err := h.Reader.Device()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Zero()
	space, err := memory.ParseID(id)
	if err != nil {
		t.Fatal(err)
	}
	return envelope.MemberOf(d.Key(), memory.SpaceID(space))
}

// check compares what a member sees with the model.
func (m *machine) check(t *testing.T, who int) {
	v := must[serve.CommunityView](m.t)(m.homes[who].Show(t.Context(), m.id))
	if want := slices.Sorted(maps.Keys(m.items)); !slices.Equal(texts(v.Items), want) {
		m.t.Fatalf("%s sees %v, not %v", name(who), texts(v.Items), want)
	}
	if want := slices.Sorted(maps.Keys(m.gone)); !slices.Equal(texts(v.Removed), want) {
		m.t.Fatalf("%s sees as removed %v, not %v", name(who), texts(v.Removed), want)
	}
	for _, it := range v.Removed {
		if it.Why == "" {
			m.t.Fatalf("%q was removed without a reason", it.Text)
		}
	}
	if v.People != len(m.members()) || v.Role != m.role[who] {
		m.t.Fatalf("%d members, and %s is %s", v.People, name(who), v.Role)
	}
}

// attack gives everything that the relay has to each removed member.
func (m *machine) attack(t *testing.T) {
	for i := range m.out {
		if !m.out[i] {
			continue
		}
		read := m.opened(t, m.homes[i])
		for text := range m.later[i] {
			if read[text] {
				m.t.Fatalf("%s was put out, and reads %q", name(i), text)
			}
		}
	}
	read := m.opened(t, m.homes[0]) // this shows that the attack works
	for text := range m.items {
		if !read[text] {
			m.t.Fatalf("the owner can't open %q", text)
		}
	}
}

// opened returns what a home's keys can open of the whole log and all deltas.
func (m *machine) opened(t *testing.T, h *home) map[string]bool {
	l, err := share.ParseLink(m.link)
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := h.Reader.Device()
	if err != nil {
		m.t.Fatal(err)
	}
	defer d.Zero()
	keys, me, out := share.KeysOf(d, l.Space), envelope.MemberOf(d.Key(), l.Space), map[string]bool{}
	err = m.homes[0].in(t.Context(), l.Space, func(sp *space) error {
		wire, err := sp.journal.Entries(t.Context())
		if err != nil {
			return err
		}
		for _, b := range wire {
			e := must[*envelope.Entry](m.t)(envelope.ParseEntry(b))
			for _, w := range e.Wraps {
				if err := keys.Take(w.Keys); err != nil && w.To == me {
					return err
				}
			}
		}
		there := upstream.New(sp.relay.Space(sp.id, sp.me, sp.device.SignRequest), "")
		for after := uint64(0); ; {
			page, err := there.Deltas(t.Context(), after)
			if err != nil || len(page) == 0 {
				return err
			}
			for _, p := range page {
				after = p.Cursor
				sent := must[*envelope.Delta](m.t)(envelope.ParseDelta(p.Delta))
				key, ok := keys.Epoch(sent.Header.Epoch)
				if !ok || sent.Body == nil {
					continue
				}
				plain, err := seal.OpenBody(key, sent.Body)
				if err != nil {
					return err
				}
				ops, err := delta.Decode(&sent.Header, plain)
				if err != nil {
					return err
				}
				for _, op := range ops {
					if op.Assertion != nil && op.Assertion.Candidate != nil {
						out[op.Assertion.Candidate.Text] = true
					}
				}
			}
		}
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}
