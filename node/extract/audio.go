package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/abi"
)

// keepSound is how much of a stream stays in memory: the longest utterance that a
// plugin may cut, with what came before it.
const keepSound = 30 * sound.Rate

// WaitingText is the end of the text of a recording that nothing here could
// transcribe yet. The recording has the tag [memory.WaitingTag].
const WaitingText = ", waiting for a transcript"

// stream is the sound of one device. Its events are held, uncommitted, until
// everything in them is silence or belongs to an utterance that was cut. After a
// crash they come again from the journal.
type stream struct {
	boot    uint64
	decoder sound.Decoder
	pcm     []int16          // the last keepSound samples
	end     int64            // samples of the stream so far
	next    time.Time        // when the next sample is due
	heard   time.Time        // when the node was last told of sound
	last    memory.Event     // the last event, without its data
	open    []memory.EventID // held events, oldest first
	since   []int64          // the stream position at which each of them began
	cut     int64            // the position up to which utterances have been cut
	voice   int64            // the position up to which speech was heard
	live    live
}

// audio takes one message of sound.
func (x *Extractor) audio(ctx context.Context, p *pending) {
	ev := &p.event
	s := x.streams[ev.ID.Device]
	if s != nil && slices.Contains(s.open, ev.ID) {
		p.held = true // a second copy of an event that is held already
		return
	}
	if s != nil && (s.boot != ev.ID.Boot || ev.At.Sub(s.next).Abs() > 2*time.Second) {
		// The device restarted, or sound is missing: the earlier sound has ended.
		x.endStream(ctx, p, s)
		s = nil
	}
	if s == nil {
		s = &stream{boot: ev.ID.Boot, next: ev.At}
		x.streams[ev.ID.Device] = s
		for _, pl := range x.plugins {
			delete(x.states, stateKey{pl.ID(), soundOf(ev.ID.Device)})
		}
	}
	pcm, err := s.decode(ev)
	if err != nil {
		p.refuse("", "unreadable", err.Error())
		if s.last.ID == (memory.EventID{}) { // nothing of the stream was heard, so there is nothing to end
			delete(x.streams, ev.ID.Device)
		}
		return
	}
	at := s.end
	s.pcm = append(s.pcm, pcm...)
	if over := len(s.pcm) - keepSound - len(pcm); over > 0 {
		s.pcm = append(s.pcm[:0], s.pcm[over:]...)
	}
	s.end += int64(len(pcm))
	s.next = ev.At.Add(samples(int64(len(pcm))))
	s.heard, s.last = time.Now(), *ev
	s.last.Data = nil
	s.open, s.since = append(s.open, ev.ID), append(s.since, at)

	in := x.event(ev, "audio")
	in.PCM, in.Rate, in.Last = sound.AppendPCM(nil, pcm), sound.Rate, ev.Last
	for _, pl := range x.plugins {
		if !pl.Wants("audio") {
			continue
		}
		out, ok := x.call(ctx, p, pl, &in, soundOf(ev.ID.Device))
		if !ok {
			continue
		}
		for _, a := range out.Annotations {
			if a.Kind == "speech" && a.Number > 0 {
				s.voice = s.end
			}
		}
		for _, d := range out.Derived {
			if d.Kind == "utterance" {
				x.recording(ctx, p, pl, s, at, d)
			}
		}
	}
	speaking := !ev.Last && s.speaking()
	x.hearOn(p, s, at, speaking)
	if p.held = speaking && len(p.proposals) == 0; p.held {
		return
	}
	p.covers = append(p.covers, s.done(speaking)...)
	p.unfinished = speaking && len(s.open) > 0
	if ev.Last {
		delete(x.streams, ev.ID.Device)
	}
}

// pauseLimit is how long after the last speech an utterance may still be cut. It is
// longer than any plugin waits.
const pauseLimit = 2 * sound.Rate

// speaking reports whether speech was heard that is not in an utterance yet.
func (s *stream) speaking() bool { return s.voice > s.cut && s.end-s.voice < pauseLimit }

// done returns the held events that nothing waits for any more. While somebody
// speaks, the last one stays.
func (s *stream) done(speaking bool) []memory.EventID {
	n := len(s.open)
	if speaking {
		for n > 0 && s.since[n-1] >= s.cut {
			n--
		}
	}
	gone := append([]memory.EventID(nil), s.open[:n]...)
	s.open, s.since = append(s.open[:0], s.open[n:]...), append(s.since[:0], s.since[n:]...)
	return gone
}

// endStream ends a stream that broke off. If somebody was speaking, the utterance
// is cut where the sound ends.
func (x *Extractor) endStream(ctx context.Context, p *pending, s *stream) {
	if len(s.open) > 0 {
		in := x.event(&p.event, "audio")
		in.ID, in.At, in.Rate, in.Last = s.open[len(s.open)-1].String(), s.next.UnixMilli(), sound.Rate, true
		for _, pl := range x.plugins {
			if !pl.Wants("audio") {
				continue
			}
			if out, ok := x.call(ctx, p, pl, &in, soundOf(p.event.ID.Device)); ok {
				for _, d := range out.Derived {
					x.recording(ctx, p, pl, s, s.end, d)
				}
			}
		}
	}
	x.hearDrop(p, s)
	p.covers = append(p.covers, s.done(false)...)
	delete(x.streams, p.event.ID.Device)
}

// EndSilent commits sound that waits for more, if its device has been silent for a
// while. If a device vanished in the middle of a sentence, the sentence ends there.
// If the rest of a photo does not come for a longer time, the photo is noted as
// lost.
func (x *Extractor) EndSilent(ctx context.Context, w *engine.Writer, after, parts time.Duration) ([]Outcome, error) {
	ended := x.lostParts(parts)
	for _, s := range x.streams {
		if time.Since(s.heard) >= after {
			p := &pending{event: s.last, rewritten: map[memory.ID]string{}}
			x.endStream(ctx, p, s)
			ended = append(ended, p)
		}
	}
	var outs []Outcome
	var errs []error
	for _, p := range ended {
		changes, err := x.commit(ctx, w, p)
		if err != nil {
			errs = append(errs, err) // its events come again with the next start
			continue
		}
		outs = append(outs, Outcome{Event: p.event.ID, Covers: p.covers, Changes: changes, Refusals: p.refusals, Faults: p.faults})
	}
	return outs, errors.Join(errs...)
}

// recording makes a waiting resource of an utterance that a plugin cut. at is the
// stream position of the event's first sample; d counts from there.
func (x *Extractor) recording(ctx context.Context, p *pending, pl Plugin, s *stream, at int64, d abi.Derived) {
	from, to := at+d.From, at+d.To
	first := s.end - int64(len(s.pcm))
	from = max(from, first)
	if to > s.end || to <= from {
		p.refuse(pl.ID(), "invalid", fmt.Sprintf("derived utterance of samples %d to %d: the stream has %d to %d", d.From, d.To, first-at, s.end-at))
		return
	}
	s.cut = max(s.cut, to)
	if began := s.next.Add(-samples(s.end - from)); x.cfg.IsOffRecord != nil && x.cfg.IsOffRecord(began) {
		p.refuse("", "paused", offRecord)
		x.hearDrop(p, s)
		return
	}
	turns := x.voices(p.event.ID.Device, s.next.Add(-samples(s.end-from)), s.pcm[from-first:to-first])
	if len(turns) > 1 || turns[0].Stranger {
		x.hearDrop(p, s) // Live heard all voices together, but each voice becomes a recording of its own
	}
	for _, v := range turns {
		x.turn(ctx, p, pl, s, from+int64(v.From), from+int64(v.To), v)
	}
}

// turn makes a waiting resource of what one voice said in an utterance. from and to
// are positions in the stream.
func (x *Extractor) turn(ctx context.Context, p *pending, pl Plugin, s *stream, from, to int64, v Voice) {
	first := s.end - int64(len(s.pcm))
	pcm := s.pcm[from-first : to-first]
	began := s.next.Add(-samples(s.end - from))
	length := samples(int64(len(pcm)))
	if v.Stranger {
		p.stranger(pl.ID(), began, length)
		return
	}
	in, since := s.holding(from, p.event.ID)
	c := memory.Candidate{
		Type:        memory.Resource,
		Text:        fmt.Sprintf("Recording of %.1f s of speech, %s%s", length.Seconds(), began.In(x.zone(&p.event)).Format("2006-01-02 15:04:05"), WaitingText),
		Owner:       memory.Owner{User: x.cfg.Owner},
		Tags:        []string{"recording", memory.WaitingTag},
		Source:      memory.Source{Device: p.event.ID.Device, Plugin: pl.ID(), Version: pl.Version()},
		Confidence:  1,
		Sensitivity: memory.Private,
		Evidence:    []memory.Evidence{{Event: in, At: began, Speaker: v.Speaker}},
		TrueFrom:    began, TrueTo: began.Add(length),
		Expires: began.Add(x.cfg.KeepAudio),
	}
	c.Fields.Resource = &memory.ResourceFields{Title: "Recording", MediaType: "audio/wav"}
	off, lines := p.unkeptLines, len(p.utterances)
	if x.extractUtterance(ctx, p, in, from-since, began, pcm, v.Speaker) { // it has its words, so it does not wait
		c.Text, c.Tags = strings.TrimSuffix(c.Text, WaitingText), []string{"recording"}
		x.hearDrop(p, s)
	}
	if p.unkeptLines > off && len(p.utterances) == lines { // the wearer wants nothing of it kept
		x.hearDrop(p, s)
		return
	}
	if x.cfg.KnownOnly { // a worker, too, must leave out anyone whom it hears beside the voice
		c.Tags = append(c.Tags, memory.KnownVoiceTag)
	}
	id := x.keys.MemoryID(in, pl.ID(), fmt.Sprintf("utterance at %d", from-since))
	p.proposals = append(p.proposals, proposal{id, c, sound.ToWAV(pcm)})
	x.hearEndAsRecording(p, s, from, to, id)
}

// holding returns the event that contains a sample, and the position at which that
// event began. So an id made from them stays the same when the events come again.
func (s *stream) holding(sample int64, otherwise memory.EventID) (memory.EventID, int64) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.since[i] <= sample {
			return s.open[i], s.since[i]
		}
	}
	return otherwise, 0
}

// maxSound is how many samples a message may have: two minutes, about what a plugin takes
// (abi.MaxInput). A byte of Opus may be 80 ms of silence.
const maxSound = 120 * sound.Rate

// decode returns a message's samples, whatever its codec.
func (s *stream) decode(ev *memory.Event) (pcm []int16, err error) {
	switch {
	case ev.Codec == "wav":
		pcm, err = sound.WAV(ev.Data)
	case ev.Codec == "opus" && wire.IsOgg(ev.Data):
		pcm, err = s.decoder.Ogg(ev.Data, maxSound)
	case ev.Codec == "opus":
		var packets [][]byte
		packets, err = wire.Packets(ev.Data)
		for i := 0; i < len(packets) && err == nil && len(pcm) <= maxSound; i++ {
			var got []int16
			got, err = s.decoder.Decode("opus", 0, packets[i])
			pcm = append(pcm, got...)
		}
	default:
		pcm, err = s.decoder.Decode(ev.Codec, ev.Rate, ev.Data)
	}
	if err == nil && len(pcm) > maxSound {
		err = fmt.Errorf("%w: more than 2 minutes of sound in one message", sound.ErrFormat)
	}
	return pcm, err
}

func samples(n int64) time.Duration { return time.Duration(n) * time.Second / sound.Rate }
