package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// text runs the chain on a line that was said.
func (x *Extractor) text(ctx context.Context, p *pending) { x.processText(ctx, p, "utterance") }

// processText runs the chain on the text of the pending event. Its utterance is named after the
// event and name.
func (x *Extractor) processText(ctx context.Context, p *pending, name string) {
	ev := &p.event
	if strings.TrimSpace(ev.Text) == "" {
		p.refuse("", "empty", "a text event without text")
		return
	}
	if x.isOffRecord(p) || x.ordered(p) {
		return
	}
	before, earlier := x.session, len(p.proposals)
	session := x.session.join(ev.At)
	own := turn{event: ev.ID, utterance: x.keys.MemoryID(ev.ID, "", name), at: ev.At, speaker: ev.Speaker, text: ev.Text, user: memory.OtherUser(ev.User)}
	utterance := memory.Utterance{ID: own.utterance, Space: x.engine.Space(), Event: ev.ID, Session: session, At: ev.At, Received: ev.Received, Zone: memory.ZoneName(x.zone(ev)),
		Speaker: ev.Speaker, Lang: ev.Lang, Source: memory.Source{Device: ev.ID.Device, Plugin: p.by.Plugin, Version: p.by.Version, Model: p.by.Model},
		Agent: ev.Agent, Run: ev.Run, User: ev.User, Metadata: ev.Metadata}
	utterance.Place = x.session.Place
	p.lineID = own.utterance
	in := x.event(ev, "text")

	blind := x.redactFirst(ctx, p, &in, &own)
	if err := p.vaulted(own.text, blind); err != nil {
		p.broken = err
		return
	}
	if blind {
		// No plugin could look for secrets, so nobody is shown the line. It is kept,
		// sealed and whole, and doctor reports it.
		p.refuse("", "unscanned", "the plugin that looks for secrets failed: the line is set aside, sealed, and nothing was made of it")
		p.dropDeferred(own.utterance)
		x.quarantine(p, name, &utterance)
		return
	}
	utterance.Text, utterance.Redacted = own.text, p.redacted
	again, err := x.repeated(ctx, &own, ev)
	if err != nil {
		p.broken = err
		return
	}
	if again && ev.Secret != "" {
		p.broken = fmt.Errorf("%w: secret: a line about another one of the same name and time is already there, so nothing of this one was kept", memory.ErrInvalid)
		return
	}
	if again {
		p.refuse("", "repeated", "the same line of that moment is there already")
		p.proposals, x.session = p.proposals[:earlier], before // other lines and recordings of the event stay
		p.duplicates = append(p.duplicates, utterance)
		return
	}

	if !ev.Typed && x.served.recently(own.text, ev.Received) {
		p.refuse("", "feedback", "repeats what was just recalled")
	} else {
		x.extractFacts(ctx, p, &in, &own, &utterance)
	}
	p.utterances = append(p.utterances, utterance)
	x.session.appendTurn(own)
}

// redactFirst calls the plugins that take secrets out. Each sees what the previous one has
// left of the turn. It reports whether one of them failed, so that the turn may still hold
// a secret.
func (x *Extractor) redactFirst(ctx context.Context, p *pending, in *abi.Event, own *turn) (blind bool) {
	for _, pl := range x.plugins {
		if !pl.RunsFirst() || !pl.Wants("text") {
			continue
		}
		in.Text = own.text
		seen, back := x.session.before(*own)
		in.Before = seen
		out, ok := x.call(ctx, p, pl, in, talk)
		if !ok {
			blind = true
			continue
		}
		x.applyRedactions(p, out.Redactions, own)
		back[0] = *own
		for i, t := range x.session.turns {
			back[len(back)-1-i] = t
		}
		x.propose(ctx, p, pl, wholeTurns(out.Candidates, back), back, p.event.Lang)
	}
	return blind
}

// extractFacts calls all other plugins with what is left of the turn. A language that one
// of them finds is noted in the utterance, and told to the plugins that follow.
func (x *Extractor) extractFacts(ctx context.Context, p *pending, in *abi.Event, own *turn, utterance *memory.Utterance) {
	in.Text = own.text
	seen, back := x.session.beforeOfUser(*own)
	in.Before = seen
	stream := talk
	if own.user != "" {
		stream = "" // the state has plans of the wearer: for another user a plugin has only the turns before
	}
	for _, pl := range x.plugins {
		if pl.RunsFirst() || !pl.Wants("text") {
			continue
		}
		out, ok := x.call(ctx, p, pl, in, stream)
		if !ok {
			continue
		}
		for _, a := range out.Annotations {
			if a.Kind == "language" && utterance.Lang == "" {
				utterance.Lang, in.Lang = a.Text, a.Text
			}
		}
		x.propose(ctx, p, pl, out.Candidates, back, in.Lang)
	}
}

// vaulted returns an error unless the secret that the pending event names was taken out of
// the text completely, and is proposed for the vault. text is what is left of the text.
// blind means that a plugin that looks for secrets has failed.
func (p *pending) vaulted(text string, blind bool) error {
	secret := p.event.Secret
	switch {
	case secret == "":
		return nil
	case blind:
		return errors.New("secret: the plugin that looks for secrets failed, so nothing of the line was kept")
	case strings.Contains(text, secret),
		!slices.ContainsFunc(p.secrets, func(taken string) bool { return strings.Contains(taken, secret) }),
		!slices.ContainsFunc(p.proposals, func(pr proposal) bool { return pr.cand.Type == memory.Vault }):
		return fmt.Errorf("%w: secret: it was not recognised as one, so nothing of the line was kept: add it by hand", memory.ErrInvalid)
	}
	return nil
}

// applyRedactions applies redactions to the event's own text and to earlier turns.
func (x *Extractor) applyRedactions(p *pending, all []abi.Redaction, own *turn) {
	for n, spans := range byTurn(all) {
		if n == 0 {
			clean, taken := redact(own.text, spans)
			own.text = clean
			for _, r := range spans {
				p.marks = append(p.marks, mark(r.Kind))
			}
			p.redacted += len(taken)
			p.secrets = append(p.secrets, taken...)
			continue
		}
		i := len(x.session.turns) + n
		if i < 0 {
			continue
		}
		t := &x.session.turns[i]
		clean, taken := redact(t.text, spans)
		t.text = clean
		p.redacted += len(taken)
		p.secrets = append(p.secrets, taken...)
		p.rewritten[t.utterance] = clean
	}
}

// marked reports whether a secret was taken out of a part of the event's text.
func (p *pending) marked(text string, s abi.Span) bool {
	if s.Turn != 0 || s.Start < 0 || s.End > len(text) || s.Start > s.End {
		return false
	}
	return slices.ContainsFunc(p.marks, func(m string) bool { return strings.Contains(text[s.Start:s.End], m) })
}

// wholeTurns widens evidence to whole turns. Where a secret was there is nothing to quote,
// so the text around it is the evidence.
func wholeTurns(cs []abi.Candidate, back []turn) []abi.Candidate {
	for i := range cs {
		for j, s := range cs[i].Spans {
			if n := -s.Turn; n >= 0 && n < len(back) {
				cs[i].Spans[j] = abi.Span{Turn: s.Turn, Start: 0, End: len(back[n].text)}
			}
		}
	}
	return cs
}
