package abi

// Keys of an Output's map; docs/wasm.md has the tables.
const (
	outVersion = iota
	outCandidates
	outRedactions
	outAnnotations
	outDerived
	outRefusals
	outState
)

const (
	redactionSpan = iota + 1
	redactionKind
)

const (
	annotationKind = iota + 1
	annotationFrom
	annotationTo
	annotationNumber
	annotationText
)

const (
	derivedKind = iota + 1
	derivedAt
	derivedFrom
	derivedTo
	derivedPCM
	derivedText
)

const (
	refusalKind = iota + 1
	refusalReason
	refusalSpan
)

// Empty reports that there is nothing to tell the host; a plugin then returns
// 0.
func (o *Output) Empty() bool {
	return len(o.Candidates)+len(o.Redactions)+len(o.Annotations)+len(o.Derived)+len(o.Refusals)+len(o.State) == 0
}

// Reset empties o and keeps its slices to be used again.
func (o *Output) Reset() {
	*o = Output{Candidates: o.Candidates[:0], Redactions: o.Redactions[:0],
		Annotations: o.Annotations[:0], Derived: o.Derived[:0], Refusals: o.Refusals[:0]}
}

// AppendOutput appends o in CBOR. It checks nothing, because the host does.
func AppendOutput(dst []byte, o *Output) []byte {
	w := encoder{b: dst}
	m := w.open()
	w.int(outVersion, Version)
	if w.list(outCandidates, len(o.Candidates)) {
		for i := range o.Candidates {
			appendCandidate(&w, &o.Candidates[i])
		}
	}
	if w.list(outRedactions, len(o.Redactions)) {
		for i := range o.Redactions {
			m := w.open()
			w.span(redactionSpan, o.Redactions[i].Span)
			w.str(redactionKind, o.Redactions[i].Kind)
			w.close(m)
		}
	}
	if w.list(outAnnotations, len(o.Annotations)) {
		for i := range o.Annotations {
			a := &o.Annotations[i]
			m := w.open()
			w.str(annotationKind, a.Kind)
			w.int(annotationFrom, a.From)
			w.int(annotationTo, a.To)
			w.float(annotationNumber, a.Number)
			w.str(annotationText, a.Text)
			w.close(m)
		}
	}
	if w.list(outDerived, len(o.Derived)) {
		for i := range o.Derived {
			v := &o.Derived[i]
			m := w.open()
			w.str(derivedKind, v.Kind)
			w.int(derivedAt, v.At)
			w.int(derivedFrom, v.From)
			w.int(derivedTo, v.To)
			w.bytes(derivedPCM, v.PCM)
			w.str(derivedText, v.Text)
			w.close(m)
		}
	}
	if w.list(outRefusals, len(o.Refusals)) {
		for i := range o.Refusals {
			r := &o.Refusals[i]
			m := w.open()
			w.str(refusalKind, r.Kind)
			w.str(refusalReason, r.Reason)
			w.span(refusalSpan, r.Span)
			w.close(m)
		}
	}
	w.bytes(outState, o.State)
	w.close(m)
	return w.b
}

// DecodeOutput reads a plugin's answer into o, which it empties first. Nothing in o points
// into b. An error is an *Error that names the place; o must not be used then. Whether spans
// lie within texts, and whether the plugin was allowed to answer this, is for the host to
// check.
func DecodeOutput(b []byte, lim Limits, o *Output) error {
	lim = lim.orDefault()
	d := decoder{b: b}
	d.push("output")
	*o = Output{}
	if len(b) > lim.Output {
		return d.fail(CodeLimit)
	}
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case outVersion:
			if d.int() != Version {
				d.fail(CodeVersion)
			}
		case outCandidates:
			o.Candidates = elements(&d, "candidates", o.Candidates, lim.Candidates, decodeCandidate)
		case outRedactions:
			o.Redactions = elements(&d, "redactions", o.Redactions, MaxRedactions, decodeRedaction)
		case outAnnotations:
			o.Annotations = elements(&d, "annotations", o.Annotations, MaxAnnotations, decodeAnnotation)
		case outDerived:
			o.Derived = elements(&d, "derived", o.Derived, MaxDerived, decodeDerived)
		case outRefusals:
			o.Refusals = elements(&d, "refusals", o.Refusals, MaxRefusals, decodeRefusal)
		case outState:
			o.State = d.blob("state", lim.State)
		default:
			d.fail(CodeUnknown)
		}
	}
	if d.err == nil && seen&1 == 0 {
		d.fail(CodeVersion)
	}
	return d.end()
}

func decodeRedaction(d *decoder, r *Redaction) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case redactionSpan:
			r.Span = d.span("span")
		case redactionKind:
			r.Kind = d.name("kind")
		default:
			d.fail(CodeUnknown)
		}
	}
}

func decodeAnnotation(d *decoder, a *Annotation) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case annotationKind:
			a.Kind = d.name("kind")
		case annotationFrom:
			a.From = d.number("from")
		case annotationTo:
			a.To = d.number("to")
		case annotationNumber:
			a.Number = d.real("number")
		case annotationText:
			a.Text = d.str("text", MaxText)
		default:
			d.fail(CodeUnknown)
		}
	}
}

func decodeDerived(d *decoder, v *Derived) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case derivedKind:
			v.Kind = d.name("kind")
		case derivedAt:
			v.At = d.number("at")
		case derivedFrom:
			v.From = d.number("from")
		case derivedTo:
			v.To = d.number("to")
		case derivedPCM:
			v.PCM = d.blob("pcm", MaxOutput)
		case derivedText:
			v.Text = d.str("text", MaxText)
		default:
			d.fail(CodeUnknown)
		}
	}
}

func decodeRefusal(d *decoder, r *Refusal) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case refusalKind:
			r.Kind = d.name("kind")
		case refusalReason:
			r.Reason = d.str("reason", MaxText)
		case refusalSpan:
			r.Span = d.span("span")
		default:
			d.fail(CodeUnknown)
		}
	}
}

// A span is an array of three: turn, start, end. The zero span is omitted.
func (e *encoder) span(key uint64, s Span) {
	if s != (Span{}) {
		e.key(key)
		e.spanOnly(s)
	}
}

func (e *encoder) spanOnly(s Span) {
	e.head(majorArray, 3)
	e.number(int64(s.Turn))
	e.number(int64(s.Start))
	e.number(int64(s.End))
}

func (d *decoder) span(name string) (s Span) {
	d.push(name)
	decodeSpan(d, &s)
	d.pop()
	return s
}

func decodeSpan(d *decoder, s *Span) {
	if n := d.want(majorArray); d.err == nil && n != 3 {
		d.fail(CodeType)
	}
	s.Turn, s.Start, s.End = d.small(), d.small(), d.small()
}
