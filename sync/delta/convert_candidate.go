package delta

import (
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

func (c *converter) candidateOut(m *memory.Candidate, source memory.Source) *wireCandidate {
	w := &wireCandidate{Type: uint8(slices.Index(memory.Types[:], m.Type) + 1), Text: m.Text, Lang: m.Lang,
		User: m.Owner.User, Agent: m.Owner.Agent, Run: m.Owner.Run, Negates: m.Negates, Fields: c.fieldsOut(&m.Fields),
		Tags: m.Tags, Metadata: m.Metadata, Evidence: c.evidenceOut(m.Evidence), Confidence: fraction(m.Confidence),
		Sensitivity: uint8(m.Sensitivity), TrueFrom: c.timeOut(m.TrueFrom), TrueTo: c.timeOut(m.TrueTo), Expires: c.timeOut(m.Expires)}
	if m.Source != source {
		s := wireSource(m.Source)
		w.Source = &s
	}
	if m.Slot != nil {
		s := wireSlot(*m.Slot)
		w.Slot = &s
	}
	for _, e := range m.Entities {
		w.Entities = append(w.Entities, wirePair{A: e.Name, B: e.Kind})
	}
	for _, l := range m.Links {
		w.Links = append(w.Links, wirePair{A: l.Relation, B: l.To})
	}
	return w
}

func (c *converter) candidateIn(w *wireCandidate, source memory.Source) (*memory.Candidate, error) {
	if w.Type == 0 || int(w.Type) > len(memory.Types) {
		return nil, fmt.Errorf("%w: type %d", ErrForm, w.Type)
	}
	m := &memory.Candidate{Type: memory.Types[w.Type-1], Text: w.Text, Lang: w.Lang,
		Owner: memory.Owner{User: w.User, Agent: w.Agent, Run: w.Run}, Negates: w.Negates, Tags: w.Tags, Metadata: w.Metadata,
		Evidence: c.evidenceIn(w.Evidence), Source: source, Confidence: float64(w.Confidence), Sensitivity: memory.Sensitivity(w.Sensitivity),
		TrueFrom: c.timeIn(w.TrueFrom), TrueTo: c.timeIn(w.TrueTo), Expires: c.timeIn(w.Expires)}
	if w.Fields != nil {
		m.Fields = c.fieldsIn(w.Fields)
	}
	if w.Source != nil {
		m.Source = sourceIn(w.Source)
	}
	if w.Slot != nil {
		s := memory.Slot(*w.Slot)
		m.Slot = &s
	}
	for _, p := range w.Entities {
		m.Entities = append(m.Entities, memory.Entity{Name: p.A, Kind: p.B})
	}
	for _, p := range w.Links {
		m.Links = append(m.Links, memory.Link{Relation: p.A, To: p.B})
	}
	return m, nil
}

func (c *converter) fieldsOut(f *memory.Fields) *wireFields {
	w := new(wireFields)
	if v := f.Core; v != nil {
		w.Core = &wireCore{Block: v.Block, Limit: v.Limit}
	}
	if v := f.Episodic; v != nil {
		w.Episodic = &wireEpisodic{EventType: v.EventType, Details: v.Details, Actor: v.Actor, Place: v.Place,
			Started: c.timeOut(v.Started), Ended: c.timeOut(v.Ended)}
	}
	if v := f.Semantic; v != nil {
		s := wireSemantic(*v)
		w.Semantic = &s
	}
	if v := f.Procedural; v != nil {
		s := wireProcedural(*v)
		w.Procedural = &s
	}
	if v := f.Resource; v != nil {
		w.Resource = &wireResource{Title: v.Title, MediaType: v.MediaType, Content: v.Content, Blob: v.Blob, Hash: v.Hash, Sharpness: fraction(v.Sharpness)}
	}
	if v := f.Vault; v != nil {
		s := wireVault(*v)
		w.Vault = &s
	}
	if *w == (wireFields{}) {
		return nil
	}
	return w
}

func (c *converter) fieldsIn(w *wireFields) memory.Fields {
	var f memory.Fields
	if v := w.Core; v != nil {
		f.Core = &memory.CoreFields{Block: v.Block, Limit: v.Limit}
	}
	if v := w.Episodic; v != nil {
		f.Episodic = &memory.EpisodicFields{EventType: v.EventType, Details: v.Details, Actor: v.Actor, Place: v.Place,
			Started: c.timeIn(v.Started), Ended: c.timeIn(v.Ended)}
	}
	if v := w.Semantic; v != nil {
		s := memory.SemanticFields(*v)
		f.Semantic = &s
	}
	if v := w.Procedural; v != nil {
		s := memory.ProceduralFields(*v)
		f.Procedural = &s
	}
	if v := w.Resource; v != nil {
		f.Resource = &memory.ResourceFields{Title: v.Title, MediaType: v.MediaType, Content: v.Content, Blob: v.Blob, Hash: v.Hash, Sharpness: float64(v.Sharpness)}
	}
	if v := w.Vault; v != nil {
		s := memory.VaultFields(*v)
		f.Vault = &s
	}
	return f
}
