package extract

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
)

// maxDepth is how many steps an event may be derived: an utterance from sound, and a text from
// the utterance.
const maxDepth = 2

// maxSpoken is how many texts a plugin may hear in one utterance.
const maxSpoken = 8

// extractUtterance gives an utterance to the plugins that ask for utterances, and processes the
// results: candidates, and texts as if a wearable had sent them. It reports whether there was a
// text. from is where the utterance begins in the event that it is named after, in samples.
func (x *Extractor) extractUtterance(ctx context.Context, p *pending, id memory.EventID, from int64, began time.Time, pcm []int16, speaker string) (spoken bool) {
	outer, depth := p.event, p.depth
	defer func() { p.event, p.depth = outer, depth }()
	p.event.ID, p.event.At, p.event.Data, p.event.Speaker = id, began, nil, speaker
	p.depth++
	in := x.event(&p.event, "utterance")
	in.Rate, in.Last = sound.Rate, true
	texts := 0
	for _, pl := range x.plugins {
		if !pl.Wants("utterance") {
			continue
		}
		if in.PCM == nil {
			in.PCM = sound.AppendPCM(nil, pcm)
		}
		refusalsBefore := len(p.refusals)
		out, ok := x.call(ctx, p, pl, &in, soundOf(outer.ID.Device))
		// It is not reported that an utterance has no words: the words come later from an
		// engine, or the recording shows that it still waits. Refusals are counted for texts.
		p.refusals = slices.Concat(p.refusals[:refusalsBefore], slices.DeleteFunc(p.refusals[refusalsBefore:], func(r memory.Refusal) bool { return r.Kind == "boilerplate" }))
		if !ok {
			continue
		}
		x.propose(ctx, p, pl, out.Candidates, []turn{{event: id, at: began, speaker: speaker}}, "")
		for _, d := range out.Derived {
			switch {
			case d.Kind != "text":
				p.refuse(pl.ID(), "invalid", fmt.Sprintf("derived %s: an utterance gives texts alone", memory.Cut(d.Kind, memory.MaxName)))
			case p.depth >= maxDepth || texts >= maxSpoken:
				p.refuse(pl.ID(), "invalid", "derived text: too many, or too deep")
			default:
				texts++
				x.extractHeardText(ctx, p, fmt.Sprintf("utterance at %d, text %d of %s", from, texts, pl.ID()), began.Add(samples(d.From)), d.Text)
			}
		}
	}
	return texts > 0
}

// extractHeardText gives a text to the plugins, after another plugin heard it in a recording.
func (x *Extractor) extractHeardText(ctx context.Context, p *pending, name string, at time.Time, text string) {
	outer, depth := p.event, p.depth
	defer func() { p.event, p.depth = outer, depth }()
	p.event.Kind, p.event.At, p.event.Text = memory.KindText, at, text
	p.depth++
	x.processText(ctx, p, name)
}
