// Package scene examines photos: a perceptual hash, the sharpness and brightness of the picture,
// and whether an earlier photo of the stream shows the same. By design it recognises no faces and
// no objects.
//
// The words:
//
//   - The hash is 64 bits of a discrete cosine transform: similar pictures differ in few
//     bits.
//   - A view is what is kept of a photo for comparing later ones: its hash and 64×48 cells of
//     grey.
//   - A duplicate shows the scene of an earlier view; it is refused, with the name of that event.
//     The first photo of each scene becomes a resource.
package scene

import (
	"errors"
	"slices"
	"strconv"

	"github.com/locket-dev/locket/wasm/abi"
)

// Version of the extractor, as its manifest says.
const Version = "1.2.0"

// ErrPicture: the event's picture does not match its width and height.
var ErrPicture = errors.New("scene: gray is not width×height bytes, or under 32×32")

// Thresholds, chosen on the pictures of testdata and the test's variations.
const (
	least   = 32  // pixels of a side
	sharpAt = 100 // variance of the Laplacian of 0..255: sharp from here on (the measure is from Pech-Pacheco et al., 2000)
	softAt  = 25  // soft from here on, blurred below
	darkAt  = 0.12
	bright  = 0.88
	blankSD = 3 // standard deviation of the cells in grey levels, below which the lens is covered, or the wall bare
)

// Extractor finds scenes. It holds tables only, and is safe for concurrent use.
type Extractor struct {
	dct *transform
}

// New makes an extractor.
func New() *Extractor { return &Extractor{dct: newTransform()} }

// Extract reads the photo of ev and appends its findings to out: annotations
// "hash" (16 hexadecimal characters), "sharpness", "exposure" (mean, 0 to 1)
// and "scene" ("new", "same" as the photo before, "again" as an older one;
// Number is the likeness, 0 to 1), then a resource or a refusal. It ignores
// events of other kinds. It returns ErrPicture for a picture that does not
// match its size.
func (x *Extractor) Extract(ev *abi.Event, out *abi.Output) error {
	if ev.Kind != "photo" {
		return nil
	}
	if ev.Width < least || ev.Height < least || len(ev.Gray) != ev.Width*ev.Height {
		return ErrPicture
	}
	fine := shrink(ev.Gray, ev.Width, ev.Height)
	v := newView(ev.ID, x.dct.hash(fine), fine)
	sharp := sharpness(ev.Gray, ev.Width, ev.Height)
	exposure := float64(fine.mean()) / 255
	annotate := func(kind string, n float64, text string) {
		out.Annotations = append(out.Annotations, abi.Annotation{Kind: kind, Number: n, Text: text})
	}
	annotate("hash", 0, hex64(v.hash))
	annotate("sharpness", sharp, word(sharp))
	annotate("exposure", exposure, light(exposure))

	views := decodeViews(ev.State)
	out.State = ev.State
	if fine.deviation() < blankSD {
		out.Refusals = append(out.Refusals, abi.Refusal{Kind: "blank", Reason: "the picture is almost one shade: the lens was covered, or it was too dark"})
		return nil
	}
	earlier, likeness := -1, 0.0
	if again := slices.IndexFunc(views, func(w view) bool { return w.event == ev.ID }); again >= 0 {
		earlier = again // a redelivery
	} else {
		earlier, likeness = newLooker(&v).find(views)
	}
	switch {
	case earlier < 0:
		annotate("scene", likeness, "new")
		out.Candidates = append(out.Candidates, v.resource(ev, sharp, exposure))
	case views[earlier].event == ev.ID: // a redelivery: the same answer as for the first time
		annotate("scene", 1, "new")
		out.Candidates = append(out.Candidates, v.resource(ev, sharp, exposure))
		return nil
	default:
		state := "again"
		if earlier == len(views)-1 {
			state = "same"
		}
		annotate("scene", likeness, state)
		out.Refusals = append(out.Refusals, abi.Refusal{Kind: "duplicate", Reason: "shows what photo " + views[earlier].event + " shows"})
	}
	if earlier < 0 || views[earlier].hash != v.hash {
		out.State = encodeViews(append(views, v.leading(views, earlier)))
	}
	return nil
}

// leading returns the view to keep for v: a duplicate is kept under the name of its scene's
// first photo, so that a scene which changes gradually still leads back to what was remembered
// of it.
func (v view) leading(views []view, earlier int) view {
	if earlier >= 0 {
		v.event = views[earlier].event
	}
	return v
}

func (v *view) resource(ev *abi.Event, sharp, exposure float64) abi.Candidate {
	title := "Photo, " + word(sharp)
	if l := light(exposure); l != "" {
		title += ", " + l
	}
	title += ", new scene"
	confidence := 0.9
	if sharp < softAt {
		confidence = 0.6
	}
	return abi.Candidate{
		Type: "resource", Kind: "photo", Text: title,
		Title: title, MediaType: "image/*", Confidence: confidence, Sensitivity: "private",
		Slot:     &abi.Slot{Subject: "photo", Attribute: "scene", Value: hex64(v.hash), Many: true},
		TrueFrom: ev.At, Tags: []string{"photo", word(sharp)},
	}
}

func word(sharp float64) string {
	switch {
	case sharp >= sharpAt:
		return "sharp"
	case sharp >= softAt:
		return "soft"
	}
	return "blurred"
}

func light(exposure float64) string {
	switch {
	case exposure < darkAt:
		return "dark"
	case exposure > bright:
		return "overexposed"
	}
	return ""
}

func hex64(h uint64) string {
	s := strconv.FormatUint(h, 16)
	return "0000000000000000"[len(s):] + s
}
