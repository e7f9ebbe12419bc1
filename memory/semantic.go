package memory

// SemanticFields are the fields of a fact, which is a relation if predicate and object are set. The
// memory's slot determines which fact replaces which.
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

// Relation reports whether the fact connects two things.
func (f *SemanticFields) Relation() bool {
	return f != nil && f.Subject != "" && f.Predicate != "" && f.Object != ""
}
