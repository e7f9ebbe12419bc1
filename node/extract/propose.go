package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// propose checks a plugin's candidates and keeps the valid ones.
func (x *Extractor) propose(ctx context.Context, p *pending, pl Plugin, cands []abi.Candidate, turns []turn, lang string) {
	src := memory.Source{Device: p.event.ID.Device, Plugin: pl.ID(), Version: pl.Version()}
	if len(cands) > 0 && x.cfg.LeftOut != nil && p.leftOut == nil {
		err := x.engine.View(ctx, func(tx *store.Tx) error {
			l, err := x.cfg.LeftOut(tx)
			p.leftOut = &l
			return err
		})
		if err != nil {
			p.broken = errors.Join(p.broken, err)
			return
		}
	}
	if len(cands) > 0 {
		instants(pl, cands, p.event.At, x.zone(&p.event))
	}
	for i := range cands {
		c, err := x.convert(&cands[i], turns, src, lang)
		if err != nil {
			p.refuse(pl.ID(), "invalid", fmt.Sprintf("candidate %d: %v", i, err))
			p.fate(Fate{Type: c.Type, Verdict: memory.Refuse, Reason: "invalid"})
			continue
		}
		if ofSomeone(&c) {
			p.refuse(pl.ID(), "speaker", "it is of somebody whose voice was not told by a name or a label")
			p.fate(Fate{Type: c.Type, Verdict: memory.Refuse, Reason: "speaker"})
			continue
		}
		if types := p.event.Types; types != nil && c.Type != memory.Vault && !slices.Contains(types, c.Type) {
			p.refuse(pl.ID(), "type", "whoever added the text has nothing to do with "+string(c.Type)+" memories")
			p.fate(Fate{Type: c.Type, Verdict: memory.Refuse, Reason: "type"})
			continue
		}
		if memory.Hearsay(&c, turns[0].speaker, x.me(p.event.User)) {
			c.Tags = append(c.Tags, memory.HearsayTag)
		}
		if p.leftOut != nil {
			if said, ok := p.leftOut.Matter(&c); ok {
				no := LeftOut(said, p.event.ID, p.event.At)
				p.refuse(pl.ID(), no.Kind, no.Reason)
				p.fate(Fate{Type: c.Type, Verdict: memory.Refuse, Reason: "instructions"})
				continue
			}
		}
		p.fate(Fate{Type: c.Type, Memory: x.add(p, pl.ID(), c)})
	}
}

// LeftOut returns the refusal of a statement that the wearer's instructions exclude.
// said is the name that the instructions use for it.
func LeftOut(said string, event memory.EventID, at time.Time) memory.Refusal {
	return memory.Refusal{Event: event, At: at, Kind: "instructions", Reason: "your instructions leave out " + memory.Cut(said, memory.MaxName)}
}

func (x *Extractor) add(p *pending, plugin string, c memory.Candidate) memory.ID {
	if p.event.Kind == memory.KindText {
		c.Owner.Agent, c.Owner.Run, c.Metadata = p.event.Agent, p.event.Run, p.event.Metadata
		if p.event.User != "" {
			c.Owner.User = p.event.User
		}
	}
	id := x.keys.MemoryID(p.event.ID, plugin, c.Fingerprint())
	for _, have := range p.proposals {
		if have.id == id {
			return id
		}
	}
	p.proposals = append(p.proposals, proposal{id: id, cand: c})
	return id
}
