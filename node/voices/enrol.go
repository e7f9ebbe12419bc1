package voices

import (
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/voiceprint"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
)

// enrolment is a voice that is being learnt from a wearable.
type enrolment struct {
	name, device string
	want         time.Duration
	until        time.Time
	print        voiceprint.Print
	halves       [2]voiceprint.Print // of what was heard first, and of the rest
}

// learn adds an utterance to the current enrolment. It reports whether the utterance was
// added, and whose voice is being learnt. An utterance is not added if it sounds like noise,
// like another voice than what was heard so far, or like another known voice. The caller
// holds mu.
func (r *Known) learn(device string, pcm []int16) (name string, went bool) {
	e := r.enrol
	if e == nil || e.device != device {
		return "", false
	}
	if r.c.Now().After(e.until) {
		r.enrol = nil
		return "", false
	}
	v, p := r.who(e.name), voiceprint.Of(pcm)
	if !p.IsVoice() || voiceprint.Compare(&p, &e.print) < 0 || r.book.other(v, &p) != nil {
		return "", false
	}
	e.print.Add(&p)
	for _, part := range [...][]int16{pcm[:len(pcm)/2], pcm[len(pcm)/2:]} {
		half := &e.halves[0]
		if half.Speech() >= e.want/2 {
			half = &e.halves[1]
		}
		p := voiceprint.Of(part)
		half.Add(&p)
	}
	if e.print.Speech() < e.want {
		return v.Name, true
	}
	r.enrol = nil
	err := oneVoice(&e.halves[0], &e.halves[1])
	if err == nil {
		err = r.book.enrol(v, e.print, r.c.Now())
	}
	if err != nil {
		r.fault = fmt.Sprintf("%s: %v", e.device, err)
		r.c.Log.Warn("a voice was not enrolled", "device", e.device, "error", err)
		return v.Name, true
	}
	r.dirty = true
	return v.Name, true
}

// other finds the known voice, other than v's own, to which a print certainly belongs.
func (b *book) other(v voice, p *voiceprint.Print) *voice {
	for i := range b.Known {
		if o := &b.Known[i]; !o.same(v) && voiceprint.Compare(p, &o.Print) > surely {
			return o
		}
	}
	return nil
}

// same reports whether two voices belong to one person.
func (v *voice) same(o voice) bool {
	return v.Wearer && o.Wearer || strings.EqualFold(v.Name, o.Name)
}

// errSound returns the error for a recording that can't be enrolled.
func errSound(format string, a ...any) error {
	return fmt.Errorf("%w: sound: %s", memory.ErrInvalid, fmt.Sprintf(format, a...))
}

// oneVoice refuses two halves of a recording that do not sound like one voice.
func oneVoice(a, b *voiceprint.Print) error {
	if voiceprint.Compare(a, b) < 0 {
		return errSound("its two halves do not sound like one voice: want a recording in which one person speaks")
	}
	return nil
}

// printOf makes a print of a recording of one voice.
func printOf(wav []byte) (voiceprint.Print, error) {
	pcm, err := sound.WAV(wav)
	if err != nil {
		return voiceprint.Print{}, errSound("%v", err)
	}
	p := voiceprint.Of(pcm)
	if p.Speech() < leastEnrol {
		return p, errSound("%.1f s of speech were found in it: want %.0f s at least, and 30 s are better", p.Speech().Seconds(), leastEnrol.Seconds())
	}
	if !p.IsVoice() {
		return p, errSound("there is no voice in it, only noise: want a recording in which one person speaks")
	}
	a, b := voiceprint.Of(pcm[:len(pcm)/2]), voiceprint.Of(pcm[len(pcm)/2:])
	return p, oneVoice(&a, &b)
}
