package share

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// sharedOwner is the owner of copies, as a reader sees them.
const sharedOwner = "shared"

// Copy is what a reader gets of one memory.
type Copy struct {
	ID        memory.ID        `json:"id"`
	Of        memory.ID        `json:"of"` // the original; the reader does not learn it
	Candidate memory.Candidate `json:"candidate"`
}

// copyOf makes the redacted copy of a memory. It leaves out what says where the
// memory comes from (devices, events, plugins, links, a caller's metadata, blobs),
// and the evidence unless quotes are requested. ok is false if nothing is left of
// the text, or if something would stay that has to be removed.
func copyOf(m *memory.Memory, r *Redactor, how *Redaction, expires time.Time, ids *seal.Key) (c Copy, ok bool, err error) {
	var d memory.Candidate
	if err := deepCopy(&d, &m.Candidate); err != nil {
		return c, false, err
	}
	d.Source, d.Links, d.Metadata, d.Owner = memory.Source{}, nil, nil, memory.Owner{User: sharedOwner}
	evidence := d.Evidence
	d.Evidence = nil
	if how.Quotes {
		for _, e := range evidence {
			if e.Excerpt != "" {
				d.Evidence = append(d.Evidence, memory.Evidence{Speaker: e.Speaker, At: e.At, Excerpt: e.Excerpt})
			}
		}
	}
	if f := d.Fields.Resource; f != nil {
		f.Blob, f.Hash, f.Sharpness = "", "", 0 // each of these would identify the picture
	}
	r.Apply(&d)
	d.Owner.User = sharedOwner // redaction must not make it empty
	if s := d.Slot; s != nil && (memory.Normal(s.Subject) == "" || memory.Normal(s.Attribute) == "" || memory.Normal(s.Value) == "") {
		d.Slot = nil
	}
	for i := range d.Evidence { // the excerpts may have grown
		if e := &d.Evidence[i]; len(e.Excerpt) > memory.MaxExcerpt {
			e.Excerpt = ""
		}
	}
	d.Tags = validTags(d.Tags)
	var entities []memory.Entity
	for _, e := range d.Entities {
		if memory.Normal(e.Name) != "" {
			entities = append(entities, e)
		}
	}
	d.Entities = entities
	if d.TrueTo.Before(d.TrueFrom) && !d.TrueTo.IsZero() {
		d.TrueTo = time.Time{}
	}
	d.Expires = expires
	if memory.Normal(d.Text) == "" || r.holds(reflect.ValueOf(&d)) || d.Validate() != nil {
		return c, false, nil
	}
	b, err := json.Marshal(&d)
	if err != nil {
		return c, false, fmt.Errorf("copy %s: %w", m.ID, err)
	}
	sum := sha256.Sum256(b)
	mac := ids.MAC("copy", m.ID[:], sum[:])
	return Copy{ID: memory.ID(mac[:16]), Of: m.ID, Candidate: d}, true, nil
}

func deepCopy(to, from *memory.Candidate) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		return fmt.Errorf("copy memory: %w", err)
	}
	return nil
}

func validTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if memory.Normal(t) != "" && len(t) <= memory.MaxName {
			out = append(out, t)
		}
	}
	return out
}

// HoldsAny is [Redactor.Holds] for every text in the value that v points to.
func (r *Redactor) HoldsAny(v any) bool { return r.holds(reflect.ValueOf(v)) }

// holds checks every text once more. If [Redactor.Apply] has a bug, the memory is
// not shared.
func (r *Redactor) holds(v reflect.Value) bool {
	if v.Type() == kindType || v.Type() == timeType {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return r.Holds(v.String())
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && r.holds(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "Owner" && r.holds(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if r.holds(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if r.holds(it.Key()) || r.holds(it.Value()) {
				return true
			}
		}
	}
	return false
}

// digest identifies what the wearer was shown, so that exactly that is shared.
func digest(copies []Copy, parties []Party) (string, error) {
	b, err := json.Marshal(struct {
		Copies  []Copy
		Parties []Party
	}{copies, parties})
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := sha256.Sum256(b)
	return memory.ID(sum[:16]).String(), nil
}
