package extract

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/picture"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/abi"
)

// photo runs the chain on a picture.
func (x *Extractor) photo(ctx context.Context, p *pending) {
	ev := &p.event
	data, ok := x.assemblePhoto(p)
	if !ok {
		return
	}
	pic, err := picture.Decode(data)
	if err != nil {
		p.refuse("", "unreadable", err.Error())
		return
	}
	upright(pic, ev)
	x.session.join(ev.At)
	in := x.event(ev, "photo")
	in.Width, in.Height, in.Gray, in.RGB = pic.Width, pic.Height, pic.Gray, pic.RGB
	for _, pl := range x.plugins {
		if !pl.Wants("photo") {
			continue
		}
		out, ok := x.call(ctx, p, pl, &in, "photos")
		if !ok {
			continue
		}
		before := len(p.proposals)
		x.propose(ctx, p, pl, out.Candidates, []turn{{event: ev.ID, at: ev.At}}, "")
		for i := range p.proposals[before:] {
			x.attach(&p.event, &p.proposals[before+i], pic, out.Annotations, x.session.Place)
		}
	}
}

// upright turns a picture as the device says it must be turned.
func upright(pic *picture.Picture, ev *memory.Event) {
	if turn, err := strconv.Atoi(ev.Metadata[wire.MetaOrientation]); err == nil {
		pic.Turn(turn)
	}
}

// attach adds a photo's pixels and measurements to a resource. place is where it
// was taken, if that is known.
func (x *Extractor) attach(ev *memory.Event, pr *proposal, pic *picture.Picture, notes []abi.Annotation, place string) {
	f := pr.cand.Fields.Resource
	if f == nil {
		return
	}
	f.MediaType = pic.MediaType
	pr.data = ev.Data
	for _, a := range notes {
		switch a.Kind {
		case "hash":
			f.Hash = a.Text
		case "sharpness":
			f.Sharpness = a.Number
		}
	}
	c := &pr.cand
	c.Sensitivity = memory.Private
	if c.TrueFrom.IsZero() {
		c.TrueFrom = ev.At
	}
	if c.Expires.IsZero() && x.cfg.KeepPhotos > 0 {
		c.Expires = ev.At.Add(x.cfg.KeepPhotos)
	}
	c.Metadata = memory.Metadata{"pixels": fmt.Sprintf("%d×%d", pic.SourceWidth, pic.SourceHeight)}
	if turn := ev.Metadata[wire.MetaOrientation]; turn != "" {
		c.Metadata["orientation"] = turn
	}
	if place != "" {
		c.Metadata["place"] = place
		c.Text += ", at " + place
	}
	c.Text += ", " + ev.At.In(x.zone(ev)).Format("2006-01-02 15:04")
}

// location notes where the wearer is. The arrival at a place with a name becomes a
// memory.
func (x *Extractor) location(p *pending) {
	ev := &p.event
	x.session.join(ev.At)
	if ev.Place == nil || ev.Place.Name == "" || x.session.Place == ev.Place.Name {
		return
	}
	x.session.Place = ev.Place.Name
	who := cmp.Or(x.cfg.Wearer, "The wearer")
	c := memory.Candidate{Type: memory.Episodic, Text: fmt.Sprintf("%s arrived at %s, %s", who, ev.Place.Name, ev.At.In(x.zone(ev)).Format("2006-01-02 15:04")),
		Owner: memory.Owner{User: x.cfg.Owner}, Tags: []string{"visit"}, Confidence: 1, Sensitivity: memory.Private,
		Source:   memory.Source{Device: ev.ID.Device, Plugin: "node"},
		Entities: []memory.Entity{{Name: ev.Place.Name, Kind: "place"}},
		Evidence: []memory.Evidence{{Event: ev.ID, At: ev.At}}, TrueFrom: ev.At}
	c.Fields.Episodic = &memory.EpisodicFields{EventType: "visit", Actor: who, Place: ev.Place.Name, Started: ev.At}
	if ev.Place.Lat != 0 || ev.Place.Lon != 0 {
		c.Metadata = memory.Metadata{memory.MetaPosition: fmt.Sprintf("%.5f,%.5f", ev.Place.Lat, ev.Place.Lon)}
	}
	x.add(p, "node", c)
}

// button marks the moment at which the wearer pressed, with what was being said.
func (x *Extractor) button(p *pending) {
	ev := &p.event
	x.session.join(ev.At)
	if len(ev.Values) > 0 && ev.Values[0] >= 4 {
		return // press and release come with every gesture, and mean nothing more
	}
	when := ev.At.In(x.zone(ev)).Format("2006-01-02 15:04")
	c := memory.Candidate{Type: memory.Episodic, Text: "Marked by button, " + when, Owner: memory.Owner{User: x.cfg.Owner},
		Tags: []string{"bookmark"}, Confidence: 1, Sensitivity: memory.Personal, Source: memory.Source{Device: ev.ID.Device, Plugin: "node"},
		Evidence: []memory.Evidence{{Event: ev.ID, At: ev.At}}, TrueFrom: ev.At}
	c.Fields.Episodic = &memory.EpisodicFields{EventType: "bookmark", Actor: x.cfg.Wearer, Started: ev.At}
	if n := len(x.session.turns); n > 0 && ev.At.Sub(x.session.turns[n-1].at).Abs() < 2*time.Minute && !x.session.turns[n-1].at.After(ev.At) {
		t := x.session.turns[n-1]
		c.Text += ": " + t.text
		c.Evidence = append(c.Evidence, memory.Evidence{Event: t.event, Utterance: t.utterance, At: t.at, Speaker: t.speaker,
			Excerpt: memory.Cut(t.text, memory.MaxExcerpt), End: len(memory.Cut(t.text, memory.MaxExcerpt))})
	}
	x.add(p, "node", c)
}

// gap notes data that will never come, so that a gap does not look like silence.
func (x *Extractor) gap(_ context.Context, p *pending) {
	ev := &p.event
	p.refuse("", memory.GapKind, memory.GapReason(ev.Missing, ev.Reason))
}

// other gives an event to the plugins that ask for its kind. If none does, it is
// only counted.
func (x *Extractor) other(ctx context.Context, p *pending) {
	in := x.event(&p.event, string(p.event.Kind))
	for _, pl := range x.plugins {
		if pl.Wants(in.Kind) {
			if out, ok := x.call(ctx, p, pl, &in, p.event.ID.Device); ok {
				x.propose(ctx, p, pl, out.Candidates, []turn{{event: p.event.ID, at: p.event.At}}, "")
			}
		}
	}
}
