package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Rules know simplified characters. A text in traditional ones is read as simplified, which moves no
// byte, and the words that were taken from it get their characters back.

// taiwanese replaces words of Taiwan for which rules have a word of as many characters.
var taiwanese = strings.NewReplacer("捷运", "地铁", "软体", "软件", "印表机", "打印机", "脚踏车", "自行车", "简讯", "短信", "冷气", "空调",
	"国小", "小学", "国中", "初中", "幼稚园", "幼儿园", "计画", "计划")

// simplified returns ev with simplified characters, and what gives words their own back. An event
// without traditional ones is returned as it is, with nil.
func simplified(ev *abi.Event, plans []discourse.Plan) (*abi.Event, *hans.Said) {
	has := hans.Has(ev.Text) || hans.Has(ev.Speaker) || hans.Has(ev.Wearer)
	for i := range ev.Before {
		b := &ev.Before[i]
		has = has || hans.Has(syntax.Cut(b.Text, syntax.MaxBefore)) || hans.Has(b.Speaker)
	}
	for i := range plans {
		has = has || hans.Has(plans[i].Label)
	}
	if !has {
		return ev, nil
	}
	said := new(hans.Said)
	fold := func(s *string) {
		folded := hans.Fold(*s)
		if folded != *s {
			folded = taiwanese.Replace(folded)
		}
		said.Learn(*s, folded)
		*s = folded
	}
	read := *ev
	read.Before = slices.Clone(ev.Before)
	fold(&read.Text)
	for i := range slices.Backward(read.Before) {
		b := &read.Before[i]
		b.Text = syntax.Cut(b.Text, syntax.MaxBefore)
		fold(&b.Text)
		fold(&b.Speaker)
	}
	for i := range slices.Backward(plans) {
		fold(&plans[i].Label)
	}
	fold(&read.Speaker)
	fold(&read.Wearer)
	return &read, said
}

// inOwnScript gives the words of candidates and plans the characters in which they were said. Keys
// stay simplified: attributes, predicates, and "user的妈妈".
func inOwnScript(out *abi.Output, plans []discourse.Plan, said *hans.Said) {
	if said == nil {
		return
	}
	restore := func(all ...*string) {
		for _, s := range all {
			*s = said.Restore(*s)
		}
	}
	for i := range out.Candidates {
		c := &out.Candidates[i]
		restore(&c.Text, &c.Details, &c.Actor, &c.Place, &c.Object, &c.Title, &c.Label)
		if !strings.HasPrefix(c.Subject, "user") {
			restore(&c.Subject)
		}
		if c.Slot != nil {
			s := *c.Slot
			restore(&s.Value)
			if !strings.HasPrefix(s.Subject, "user") {
				restore(&s.Subject)
			}
			c.Slot = &s
		}
		c.Entities, c.Steps = slices.Clone(c.Entities), slices.Clone(c.Steps)
		for k := range c.Entities {
			restore(&c.Entities[k].Name)
		}
		for k := range c.Steps {
			restore(&c.Steps[k])
		}
	}
	for i := range plans {
		restore(&plans[i].Label)
	}
}
