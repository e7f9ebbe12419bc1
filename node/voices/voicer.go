package voices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Voicer implements serve.Voicer.
type Voicer struct{ of opened.Of[*Known] }

// NewVoicer makes a Voicer.
func NewVoicer(of opened.Of[*Known]) Voicer { return Voicer{of} }

// Voices implements serve.Voicer.
func (v Voicer) Voices(ctx context.Context) (serve.Voices, error) {
	return v.do(ctx, func(context.Context, *Known) error { return nil })
}

func (v Voicer) do(ctx context.Context, fn func(context.Context, *Known) error) (out serve.Voices, err error) {
	err = v.of.During(ctx, func(ctx context.Context, r *Known) error {
		if err := fn(ctx, r); err != nil {
			return err
		}
		out = r.list()
		return nil
	})
	return out, err
}

// list returns the voices in the form of the API.
func (r *Known) list() serve.Voices {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := serve.Voices{Voices: []serve.Voice{}, KnownOnly: r.c.KnownOnly, Failed: r.fault}
	for _, v := range r.book.Known {
		out.Voices = append(out.Voices, serve.Voice{Name: v.Name, Wearer: v.Wearer, Known: true, Seconds: v.Print.Speech().Seconds(), Learnt: v.Learnt})
	}
	sorting.Stable(out.Voices, func(a, b serve.Voice) int {
		if a.Wearer != b.Wearer {
			if a.Wearer {
				return -1
			}
			return 1
		}
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	for _, v := range r.book.Labels {
		if r.over(v) {
			continue
		}
		out.Voices = append(out.Voices, serve.Voice{Name: v.Name, Seconds: v.Print.Speech().Seconds(), Learnt: v.Learnt, Heard: v.Heard})
	}
	if e := r.enrol; e != nil && r.c.Now().Before(e.until) {
		out.Enrolling = &serve.Enrolling{Name: r.who(e.name).Name, Device: e.device, Have: e.print.Speech().Seconds(), Want: e.want.Seconds(), Until: e.until}
	}
	return out
}

// checkName refuses an invalid name, and one that would be mistaken for a
// label.
func checkName(name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%w: name: it has a character that can't be shown", memory.ErrInvalid)
	}
	if memory.Unnamed(name) {
		return fmt.Errorf("%w: name: %q stands for voices without a name", memory.ErrInvalid, name)
	}
	return nil
}

// EnrolVoice implements serve.Voicer.
func (v Voicer) EnrolVoice(ctx context.Context, q serve.EnrolVoiceRequest) (serve.Voices, error) {
	return v.do(ctx, func(ctx context.Context, r *Known) error {
		if err := checkName(q.Name); err != nil {
			return err
		}
		if q.Device != "" {
			return r.listen(&q)
		}
		p, err := printOf(q.Sound)
		if err != nil {
			return err
		}
		return r.change(ctx, func(b *book) error {
			v := r.who(q.Name)
			if o := b.other(v, &p); o != nil {
				return errSound("it is the voice of %s, who is known; where that is wrong: locket voice forget %s", o.Name, o.Name)
			}
			return b.enrol(v, p, r.c.Now())
		})
	})
}

// listen makes the next utterances of a wearable be enrolled.
func (r *Known) listen(q *serve.EnrolVoiceRequest) error {
	names, err := r.c.Devices()
	if err != nil {
		return err
	}
	if !slices.Contains(names, q.Device) {
		return fmt.Errorf("%w: device: no wearable is called %.40q", memory.ErrInvalid, q.Device)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = ""
	r.enrol = &enrolment{name: q.Name, device: q.Device, want: time.Duration(cmp.Or(q.Seconds, firstEnrol)) * time.Second, until: r.c.Now().Add(enrolWithin)}
	return nil
}

// NameVoice implements serve.Voicer.
func (v Voicer) NameVoice(ctx context.Context, q serve.NameVoiceRequest) (serve.Voices, error) {
	return v.do(ctx, func(ctx context.Context, r *Known) error {
		if err := checkName(q.Name); err != nil {
			return err
		}
		return r.change(ctx, func(b *book) error {
			from, ok := b.remove(q.Voice)
			if !ok {
				return fmt.Errorf("voice %.40q: %w", q.Voice, memory.ErrNotFound)
			}
			to := r.who(q.Name)
			if from.Wearer && !to.Wearer {
				return fmt.Errorf("%w: voice: %s is your own voice; to have it forgotten: locket voice forget %s", memory.ErrInvalid, from.Name, from.Name)
			}
			for i := range b.Known {
				if o := &b.Known[i]; to.Wearer && o.Wearer || strings.EqualFold(o.Name, to.Name) {
					from.Print.Add(&o.Print) // both become one voice
				}
			}
			return b.enrol(to, from.Print, r.c.Now())
		})
	})
}

// remove removes a voice from the book. S2 is enough for the label S2-a41f.
func (b *book) remove(name string) (out voice, ok bool) {
	for _, list := range []*[]voice{&b.Known, &b.Labels} {
		*list = slices.DeleteFunc(*list, func(v voice) bool {
			label, _, _ := strings.Cut(v.Name, "-")
			if !strings.EqualFold(v.Name, name) && (list == &b.Known || !strings.EqualFold(label, name)) {
				return false
			}
			out, ok = v, true
			return true
		})
	}
	return out, ok
}

// ForgetVoice implements serve.Voicer.
func (v Voicer) ForgetVoice(ctx context.Context, name string) (serve.Voices, error) {
	return v.do(ctx, func(ctx context.Context, r *Known) error { return r.forget(ctx, name) })
}
