package extract

import (
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
)

// Live hears utterances while they are spoken, before they are recordings. One goroutine
// calls its methods, in the order of the sound, and with the engine's write lock held: they
// must not block. Sound comes only from a device that sends it as it is spoken.
type Live interface {
	// Hear gives the next samples of an utterance, at 16,000 a second. fresh begins another
	// one. The samples are the callee's.
	Hear(device string, fresh bool, pcm []int16)
	// EndAsRecording says that the utterance has ended and is now this recording. What was heard of it
	// is exactly the recording.
	EndAsRecording(device string, recording memory.ID)
	// Drop says that what was heard is no whole utterance, or is not to be kept.
	Drop(device string)
}

// SetLive sets what hears utterances while they are spoken. It is called once, before the first
// event, or not at all.
func (x *Extractor) SetLive(l Live) { x.live = l }

// live is the part of a stream that was given to Live since an utterance began. The zero value
// means that none was.
type live struct {
	on       bool
	from, to int64 // positions in the stream
}

// Bounds for what is heard live.
const (
	liveDelay = 5 * time.Second     // sound that was received longer ago is no longer live
	liveClock = time.Minute         // the device's clock may be off by this, or it sends what it had stored
	liveLead  = sound.Rate / 2      // samples before the message in which speech is found: a plugin takes some time to find it
	liveNear  = 2 * sound.Rate      // an utterance that ended less than this ago may be followed by one that began at its end
	liveTail  = sound.Rate * 7 / 10 // samples of silence after an utterance that were given before its end was found
	liveLong  = 17 * sound.Rate     // an utterance of this length may have been cut in the middle of speech, so what follows it is not silence
)

// isLive reports whether a message of sound arrives while it is spoken.
func isLive(ev *memory.Event, length time.Duration) bool {
	return length < liveDelay && time.Since(ev.Received) < liveDelay && ev.Received.Sub(ev.At.Add(length)).Abs() < liveClock
}

// hearOn gives Live the sound of an event that began at a position of the stream, if that sound
// is part of an unfinished utterance. If only known voices are kept, Live hears nothing: the
// node knows the speaker only when the utterance is over, and must not show a stranger's words
// before that.
func (x *Extractor) hearOn(p *pending, s *stream, at int64, speaking bool) {
	switch l := x.live; {
	case l == nil || x.cfg.KnownOnly:
	case !speaking || !isLive(&p.event, samples(s.end-at)):
		x.hearDrop(p, s)
	case s.live.on:
		x.feedLive(p, s, s.end, false)
	case s.voice == s.end && s.cut <= at: // somebody is speaking now, and it is not just the end of an utterance that was cut in this event
		first := s.end - int64(len(s.pcm))
		s.live = live{on: true, from: max(s.cut, first, at-liveLead)}
		if s.cut > 0 && at-s.cut < liveNear {
			s.live.from = max(s.cut, first)
		}
		s.live.to = s.live.from
		x.feedLive(p, s, s.end, true)
	}
}

// feedLive gives Live the sound up to a position.
func (x *Extractor) feedLive(p *pending, s *stream, to int64, fresh bool) {
	first := s.end - int64(len(s.pcm))
	if s.live.to < first || to <= s.live.to {
		return
	}
	device, pcm := p.event.ID.Device, append([]int16(nil), s.pcm[s.live.to-first:to-first]...)
	s.live.to = to
	p.after = append(p.after, func() { x.live.Hear(device, fresh, pcm) })
}

// hearEndAsRecording tells Live that an utterance is a recording. If Live was given more or less than
// this utterance, it is not told so, because its words would not be those of the recording.
func (x *Extractor) hearEndAsRecording(p *pending, s *stream, from, to int64, id memory.ID) {
	if !s.live.on {
		return
	}
	tail := int64(liveTail)
	if to-from >= liveLong {
		tail = 0
	}
	if from < s.live.from || s.live.to > to+tail {
		x.hearDrop(p, s)
		return
	}
	x.feedLive(p, s, to, false)
	s.live = live{}
	device := p.event.ID.Device
	p.after = append(p.after, func() { x.live.EndAsRecording(device, id) })
}

// hearDrop tells Live to drop what it heard.
func (x *Extractor) hearDrop(p *pending, s *stream) {
	if s.live.on {
		s.live = live{}
		device := p.event.ID.Device
		p.after = append(p.after, func() { x.live.Drop(device) })
	}
}
