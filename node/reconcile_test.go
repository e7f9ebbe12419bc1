package node

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// TestReconcileCases takes what people say through the real chain, and checks
// what is remembered, with its dates and reasons. A case of the file is
//
//	== name
//	2026-03-02 Ana: I live in Beijing.          said, at nine o'clock UTC
//	pin home Beijing                            by the wearer
//	= VERDICT state attribute value | a part of the reason
//	- home                                      no memory of that attribute is there
//
// A memory without a slot is listed as "text" with a part of its words. Every
// memory of the case's speakers that has a slot has to be listed, and there
// must be no other. Memories that deny another one are not listed.
func TestReconcileCases(t *testing.T) {
	b, err := os.ReadFile("testdata/reconcile.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, nil)
	names := map[string]string{}
	cases := strings.Split("\n"+string(b), "\n== ")[1:]
	for i, c := range cases {
		name, body, _ := strings.Cut(c, "\n")
		t.Run(name, func(t *testing.T) {
			// Two cases with the same speaker would use the same slots.
			run := reconcileCase{T: t, n: n, clock: i}
			for _, line := range strings.Split(body, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					run.line(line)
				}
			}
			for who := range run.who {
				if other := names[who]; other != "" {
					t.Errorf("%s speaks in %q, too", who, other)
				}
				names[who] = name
			}
			run.rest()
		})
	}
	if len(cases) < 60 {
		t.Errorf("%d cases", len(cases))
	}
}

type reconcileCase struct {
	*testing.T
	n     *Node
	clock int
	who   map[string]bool
	named map[memory.ID]bool
}

func (c *reconcileCase) line(line string) {
	words := strings.Fields(line)
	switch {
	case words[0] == "=":
		c.expect(words[1:], line)
	case words[0] == "-":
		for _, m := range c.memories() {
			if m.Slot != nil && m.Slot.Attribute == words[1] {
				c.Errorf("%s: there is %q", line, m.Text)
			}
		}
	case words[0] == "pin":
		m := c.find(words[1], strings.Join(words[2:], " "), memory.Active)
		if m == nil {
			c.Fatalf("%s: not there: %s", line, c.all())
		}
		if _, err := c.n.Pin(c.Context(), m.ID, true); err != nil {
			c.Fatal(err)
		}
	default:
		day, said, _ := strings.Cut(line, " ")
		who, text, ok := strings.Cut(said, ": ")
		at, err := time.Parse(time.DateOnly, day)
		if err != nil || !ok {
			c.Fatalf("%s: %v", line, err)
		}
		if c.who == nil {
			c.who, c.named = map[string]bool{}, map[memory.ID]bool{}
		}
		c.who[who] = true
		c.clock += 1000
		hear(c.T, c.n, at.Add(9*time.Hour+time.Duration(c.clock)*time.Microsecond), who, text)
	}
}

// memories returns those that the case's speakers have stated, except for
// denials and repetitions.
func (c *reconcileCase) memories() (out []memory.Memory) {
	page, err := c.n.List(c.Context(), serve.ListQuery{State: serve.AnyState, Limit: 10_000})
	if err != nil {
		c.Fatal(err)
	}
	for _, m := range page.Memories {
		if !m.Negates && !m.Repeats && slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return c.who[e.Speaker] }) {
			out = append(out, m)
		}
	}
	return out
}

func (c *reconcileCase) find(attribute, value string, state memory.State) *memory.Memory {
	for _, m := range c.memories() {
		if m.State != state || c.named[m.ID] {
			continue
		}
		if m.Slot == nil && attribute == "text" && strings.Contains(m.Text, value) {
			return &m
		}
		if m.Slot != nil && strings.ReplaceAll(m.Slot.Attribute, " ", "_") == attribute && strings.EqualFold(m.Slot.Value, value) {
			return &m
		}
	}
	return nil
}

func (c *reconcileCase) expect(words []string, line string) {
	claim, reason, _ := strings.Cut(strings.Join(words, " "), " | ")
	parts := strings.SplitN(claim, " ", 4)
	if len(parts) < 4 {
		c.Fatalf("%s: want a verdict, a state, an attribute and a value", line)
	}
	m := c.find(parts[2], parts[3], memory.State(parts[1]))
	if m == nil {
		c.Errorf("%s: not there:%s", line, c.all())
		return
	}
	c.named[m.ID] = true
	why, err := c.n.Why(c.Context(), m.ID)
	if err != nil {
		c.Fatal(err)
	}
	told := []string{why.Reason}
	for _, h := range append(why.History, why.Spared...) {
		told = append(told, string(h.Verdict)+" "+h.Reason)
	}
	if string(why.Verdict) != parts[0] || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, reason) }) {
		c.Errorf("%s: %s, %q", line, why.Verdict, told)
	}
}

// rest looks for memories that the case does not list.
func (c *reconcileCase) rest() {
	for _, m := range c.memories() {
		if m.Slot != nil && !c.named[m.ID] {
			c.Errorf("not named: %s", shown(&m))
		}
	}
}

func (c *reconcileCase) all() string {
	var b strings.Builder
	for _, m := range c.memories() {
		b.WriteString("\n\t" + shown(&m))
	}
	return b.String()
}

func shown(m *memory.Memory) string {
	if m.Slot == nil {
		return fmt.Sprintf("%s text %s", m.State, m.Text)
	}
	return fmt.Sprintf("%s %s %s", m.State, strings.ReplaceAll(m.Slot.Attribute, " ", "_"), m.Slot.Value)
}
