package memory

// SemanticFields: a fact; a relation where predicate and object are set. What
// replaces what is for the memory's slot to say.
type SemanticFields struct {
	Name      string `json:"name,omitempty"`
	Details   string `json:"details,omitempty"`
	Subject   string `json:"subject,omitempty"`
	Predicate string `json:"predicate,omitempty"`
	Object    string `json:"object,omitempty"`
}

func (f *SemanticFields) validate() error {
	if f == nil {
		return nil
	}
	if f.Predicate != "" && f.Object == "" {
		return wrong("semantic.object", "empty, and there is a predicate")
	}
	for _, long := range [][2]string{{"details", f.Details}, {"subject", f.Subject}, {"object", f.Object}} {
		if err := checkText("fields.semantic."+long[0], long[1], MaxText); err != nil {
			return err
		}
	}
	return names(Semantic, [2]string{"name", f.Name}, [2]string{"predicate", f.Predicate})
}

// Relation reports whether the fact ties two things.
func (f *SemanticFields) Relation() bool {
	return f != nil && f.Subject != "" && f.Predicate != "" && f.Object != ""
}
