package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Writer changes memories, with the rank of a person.
type Writer interface {
	resolver
	// Add remembers a text. With Infer, the text goes through the extractors like a line that
	// Speaker said. Otherwise it becomes one memory, unchanged.
	Add(ctx context.Context, r AddRequest) (AddResult, error)
	// Update corrects fields. It returns ErrChanged if the memory no longer says
	// p.Was.
	Update(ctx context.Context, id memory.ID, p UpdateRequest) (memory.Memory, error)
	// Delete erases memories for good, including their texts in the history. Several memories
	// are one order: if the node is killed in between, it erases the rest when it is opened
	// again.
	Delete(ctx context.Context, ids ...memory.ID) error
	// Pin protects a memory from changes by machines, or ends that.
	Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error)
}

// AddRequest is a text to remember.
type AddRequest struct {
	Text        string              `json:"text"`
	Infer       *bool               `json:"infer,omitempty"`       // absent: true
	Keep        bool                `json:"keep,omitempty"`        // with infer: if the extractors make nothing of the text, keep it in its own words
	Type        memory.Type         `json:"type,omitempty"`        // only without infer; empty: semantic. Not vault
	At          time.Time           `json:"at,omitzero"`           // when it was said; absent: now
	Undated     bool                `json:"undated,omitempty"`     // with infer, without at: nobody knows when it was said, so it is kept beside present memories and replaces or ends none
	Speaker     string              `json:"speaker,omitempty"`     // empty: the wearer
	Lang        string              `json:"lang,omitempty"`        // BCP 47
	User        string              `json:"user,omitempty"`        // the user whom the memory belongs to; empty: the wearer
	Agent       string              `json:"agent,omitempty"`       // the agent that the memory belongs to
	Run         string              `json:"run,omitempty"`         // the run that the memory belongs to
	Tags        []string            `json:"tags,omitempty"`        // only without infer
	Metadata    memory.Metadata     `json:"metadata,omitempty"`    // stored with every resulting memory
	Fields      memory.Fields       `json:"fields,omitzero"`       // only without infer: the fields of Type
	Slot        *memory.Slot        `json:"slot,omitempty"`        // only without infer
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"` // absent: personal
	Expires     time.Time           `json:"expires,omitzero"`      // only without infer, in the future: from then on, no list, search or answer has the memory, and it is erased within the hour
	Secret      string              `json:"secret,omitempty"`      // with infer: a part of the text that is a secret; unless all of it goes to the vault, nothing of the text is kept, and the answer is an error
	Key         string              `json:"key,omitempty"`         // the caller's idempotency key for the text: the same text with the same key again changes nothing. A different text with the same key is a conflict without infer, and changes nothing with infer
	Renew       bool                `json:"renew,omitempty"`       // with key and slot, without infer: if another text has taken the slot from this key's since, add it again. For a source that is read again, such as a calendar whose event moved back
	Ends        bool                `json:"ends,omitempty"`        // with slot, without infer, from the wearer: end what fills the slot, and add nothing
	Types       []memory.Type       `json:"-"`                     // with infer: of what may be made of the text; nil: any
}

// Infers reports whether the text goes through the extractors.
func (r *AddRequest) Infers() bool { return r.Infer == nil || *r.Infer }

// AddResult is the result of adding a text: changes, and refusals with reasons.
type AddResult struct {
	Changes  []memory.Change  `json:"changes"`
	Refusals []memory.Refusal `json:"refusals"`
	Redacted int              `json:"redacted,omitempty"` // secrets moved to the vault
	Repeated bool             `json:"repeated,omitempty"` // a text with the same key was added before, and nothing was done
	Memory   memory.ID        `json:"memory,omitzero"`    // with repeated, without infer: the memory that was made of the first text
	Left     []string         `json:"left,omitempty"`     // fields of the request that had no effect, because the text was known already (NOOP); PATCH /v1/memories/{id} sets them
	Line     memory.ID        `json:"line,omitzero"`      // the stored line of the text; POST /v1/forget with this id erases all that was made of it
}

// Made returns the changes without those of memories that others of them replaced: an UPDATE
// has two changes, and the one of the memory that ended is no news of its own.
func (r *AddResult) Made() (made []memory.Change) {
	for i, c := range r.Changes {
		if !slices.ContainsFunc(r.Changes[:i], func(o memory.Change) bool {
			return o.Memory == c.Other && o.Other == c.Memory && o.Verdict == memory.Update && c.Verdict == memory.Update
		}) {
			made = append(made, c)
		}
	}
	return made
}

// Join adds the result of another text: of its changes, those that were made.
func (r *AddResult) Join(o *AddResult) {
	r.Changes, r.Refusals, r.Redacted = append(r.Changes, o.Made()...), append(r.Refusals, o.Refusals...), r.Redacted+o.Redacted
	r.Left = slices.Compact(slices.Sorted(slices.Values(append(r.Left, o.Left...))))
}

// Says describes in words what happened to a text that its changes do not show; otherwise it
// returns the empty string. It says nothing that an app may not see.
func (r *AddResult) Says() string {
	switch {
	case r.Redacted > 0 && len(r.Changes) == 0:
		return "the text has a secret, which was moved to the wearer's vault; nothing else was remembered"
	case r.Redacted > 0:
		return "the text has a secret, which was moved to the wearer's vault and is stored nowhere else"
	case len(r.Left) > 0:
		return "the text was known already; these fields of the request had no effect: " + strings.Join(r.Left, ", ") + "; an update sets them"
	case len(r.Changes) > 0:
		return ""
	case len(r.Refusals) > 0:
		return "nothing was remembered: " + r.Refusals[0].Reason
	}
	return "nothing was remembered that this app may see: the text has nothing to remember, was known already, or is private"
}

// UpdateRequest corrects a memory. A nil field stays as it is. At most one of
// Text, Append and Replace may be set, and at most one of Fields and Steps.
type UpdateRequest struct {
	Text        *string             `json:"text,omitempty"`
	Append      *string             `json:"append,omitempty"`  // a line to append to a core block
	Replace     *Replacement        `json:"replace,omitempty"` // replaces a part of the text
	Steps       []memory.StepEdit   `json:"steps,omitempty"`   // edits to the steps of a procedure, applied in order
	Value       *string             `json:"value,omitempty"`   // the value of the slot; if absent, it follows the text, as does the time of an event
	Fields      *memory.Fields      `json:"fields,omitempty"`
	Metadata    *memory.Metadata    `json:"metadata,omitempty"`
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Validity    *memory.Validity    `json:"validity,omitempty"`
	Archived    *bool               `json:"archived,omitempty"`
	Tag         []string            `json:"tag,omitempty"`   // tags to add
	Untag       []string            `json:"untag,omitempty"` // tags to remove
	Reason      string              `json:"reason,omitempty"`
	// Was is what the memory said when the caller read it. If it says something else by now, nothing
	// is changed, and the problem is "changed".
	Was *Was `json:"was,omitempty"`
}

// Was is what a memory said when it was read. A nil field is not compared.
type Was struct {
	Text  *string `json:"text,omitempty"`
	Value *string `json:"value,omitempty"` // value of the slot; empty: it had none
}

// Replacement replaces the only occurrence of Old in a text.
type Replacement struct {
	Old  string `json:"old"`
	With string `json:"with"` // empty: remove it
}

type updateOf struct {
	ID   string `path:"id" doc:"its id, or at least the first 4 characters of it"`
	Body UpdateRequest
}

// Deleted is the answer to DELETE /v1/memories/{id}.
type Deleted struct {
	ID    memory.ID    `json:"id"`
	State memory.State `json:"state"` // erased
}

// notElsewhere refuses a change of a field by a console on another machine. Shares, rules and
// apps use a memory's sensitivity and tags to choose what they pass on to others, who then keep
// it.
func notElsewhere(ctx context.Context, field string, set bool) error {
	if _, far := elsewhereOf(ctx); far && set {
		return kindForbidden.problem(field, "a console on another machine may not do this: use the console or the command on the node's own machine")
	}
	return nil
}

var memoryChangeTopic = topic[Writer]{addMemory.untyped, updateMemory.untyped, deleteMemory.untyped, pinMemory.untyped, unpinMemory.untyped}

var (
	addMemory = jsonRoute(RightAdd, spec{
		method: "POST", path: "/v1/memories", id: "addMemory", made: true,
		summary: "Remember a text",
		about:   "With infer (the default), the text goes through the extractors like a spoken line. Without infer, it becomes one memory, unchanged. With keep, a text from which the extractors make nothing is also kept unchanged.",
		gives:   "The changes to memories, and the refusals with their reasons",
	}, func(s Writer, ctx context.Context, r AddRequest) (AddResult, error) {
		if err := notElsewhere(ctx, "sensitivity", r.Sensitivity != nil); err != nil {
			return AddResult{}, err
		}
		if err := notElsewhere(ctx, "tags", len(r.Tags) > 0); err != nil {
			return AddResult{}, err
		}
		return s.Add(ctx, r)
	})

	updateMemory = jsonRoute(RightUpdate, spec{
		method: "PATCH", path: "/v1/memories/{id}", id: "updateMemory",
		summary: "Correct a memory", gives: "The memory after the change",
	}, func(s Writer, ctx context.Context, in updateOf) (memory.Memory, error) {
		if err := notElsewhere(ctx, "sensitivity", in.Body.Sensitivity != nil); err != nil {
			return memory.Memory{}, err
		}
		if err := notElsewhere(ctx, "tag", len(in.Body.Tag)+len(in.Body.Untag) > 0); err != nil {
			return memory.Memory{}, err
		}
		id, err := s.Resolve(ctx, in.ID)
		if err != nil {
			return memory.Memory{}, err
		}
		return withoutSealedOne(s.Update(ctx, id, in.Body))
	})

	deleteMemory = jsonRoute(RightForget, spec{
		method: "DELETE", path: "/v1/memories/{id}", id: "deleteMemory",
		summary: "Erase a memory for good", gives: "The id, and the state erased",
	}, byID(func(s Writer, ctx context.Context, id memory.ID) (Deleted, error) {
		return Deleted{id, memory.Erased}, s.Delete(ctx, id)
	}))

	pinMemory = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/memories/{id}/pin", id: "pinMemory",
		summary: "Pin a memory: machines no longer change it", gives: "The memory",
	}, byID(func(s Writer, ctx context.Context, id memory.ID) (memory.Memory, error) {
		return withoutSealedOne(s.Pin(ctx, id, true))
	}))

	unpinMemory = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/memories/{id}/unpin", id: "unpinMemory",
		summary: "Unpin a memory: machines may change it again", gives: "The memory",
	}, byID(func(s Writer, ctx context.Context, id memory.ID) (memory.Memory, error) {
		return withoutSealedOne(s.Pin(ctx, id, false))
	}))
)

func (r *AddRequest) check() error {
	switch {
	case strings.TrimSpace(r.Text) == "":
		return kindInvalid.problem("text", "text: empty")
	case len(r.Text) > memory.MaxText:
		return kindInvalid.problem("text", fmt.Sprintf("text: %d bytes, at most %d", len(r.Text), memory.MaxText))
	case len(r.User) > memory.MaxName:
		return kindInvalid.problem("user", fmt.Sprintf("user: %d bytes, at most %d", len(r.User), memory.MaxName))
	case len(r.Key) > memory.MaxName:
		return kindInvalid.problem("key", fmt.Sprintf("key: %d bytes, at most %d", len(r.Key), memory.MaxName))
	case r.Type == memory.Vault || r.Fields.Vault != nil:
		return kindInvalid.problem("type", "type: a vault memory is made from a secret in a text: add the text with infer")
	case r.Infers() && (r.Type != "" || r.Slot != nil || r.Fields != (memory.Fields{}) || len(r.Tags) > 0):
		return kindInvalid.problem("infer", "infer: type, fields, slot and tags are for a memory that is added as it stands: set infer to false")
	case r.Infers() && (r.Sensitivity != nil || !r.Expires.IsZero()):
		return kindInvalid.problem("infer", "infer: sensitivity and expires are for a memory that is added as it stands: set infer to false")
	case r.Undated && (!r.Infers() || !r.At.IsZero()):
		return kindInvalid.problem("undated", "undated: goes only with a text that the extractors read (infer), and without at")
	}
	return checkType("type", r.Type)
}

func checkType(field string, t memory.Type) error {
	if t != "" && !slices.Contains(memory.Types[:], t) {
		return kindInvalid.problem(field, wantType(field, t))
	}
	return nil
}

func wantType(field string, t memory.Type) string {
	return fmt.Sprintf("%s: %.40q: want core, episodic, semantic, procedural, resource or vault", field, t)
}

// check checks one update; in a batch, the service refuses fields that are given twice.
func (in *updateOf) check() error {
	r := &in.Body
	if err := r.check(); err != nil {
		return err
	}
	if countTrue(r.Text != nil, r.Append != nil, r.Replace != nil) > 1 {
		return kindInvalid.problem("text", "text: want one of text, append and replace")
	}
	if len(r.Steps) > 0 && r.Fields != nil {
		return kindInvalid.problem("steps", "steps: want steps or fields")
	}
	return nil
}

func (r *UpdateRequest) check() error {
	switch {
	case r.Text != nil && strings.TrimSpace(*r.Text) == "":
		return kindInvalid.problem("text", "text: empty")
	case r.Was != nil && r.Was.Text == nil && r.Was.Value == nil:
		return kindInvalid.problem("was", "was: want text or value")
	case r.Fields != nil && r.Fields.Vault != nil:
		return kindInvalid.problem("fields.vault", "fields.vault: can't be changed")
	}
	return nil
}

// Add remembers a text.
func (c *Client) Add(ctx context.Context, r AddRequest) (AddResult, error) {
	return call(ctx, c, addMemory, r)
}

// Update corrects a memory.
func (c *Client) Update(ctx context.Context, id string, r UpdateRequest) (memory.Memory, error) {
	return call(ctx, c, updateMemory, updateOf{id, r})
}

// Delete erases a memory.
func (c *Client) Delete(ctx context.Context, id string) (Deleted, error) {
	return call(ctx, c, deleteMemory, named{id})
}

// Pin protects a memory from changes by machines, or ends that.
func (c *Client) Pin(ctx context.Context, id string, pinned bool) (memory.Memory, error) {
	if pinned {
		return call(ctx, c, pinMemory, named{id})
	}
	return call(ctx, c, unpinMemory, named{id})
}
