package recall

// Ablation is a change to the weights that removes one signal.
type Ablation struct {
	Name   string
	Change func(*Weights)
}

// Ablations lists them; the first removes nothing.
func Ablations() []Ablation {
	return []Ablation{
		{"nothing", func(*Weights) {}},
		{"context", func(w *Weights) { w.Context = [4]float64{} }},
		{"session", func(w *Weights) { w.Session, w.Heard = 0, 0 }},
		{"covered", func(w *Weights) { w.Covered = 0 }},
		{"several", func(w *Weights) { w.Several = 0 }},
		{"speaker", func(w *Weights) { w.Speaker, w.Theirs = 0, 0 }},
		{"question", func(w *Weights) { w.Question = 0 }},
		{"answer", func(w *Weights) { w.Answer = 0 }},
		{"string", func(w *Weights) { w.String = 0 }},
		{"lexicon", func(w *Weights) { w.Lexicon, w.Near = 0, 0 }},
		{"time", func(w *Weights) { w.Time, w.Handle = 0, 0 }},
		{"when", func(w *Weights) { w.When = 0 }},
		{"where", func(w *Weights) { w.Where = 0 }},
		{"number", func(w *Weights) { w.Number = 0 }},
		{"graph", func(w *Weights) { w.Graph, w.Led = 0, 0 }},
		{"length", func(w *Weights) { w.Length = 0 }},
		{"memories counting less", func(w *Weights) { w.Derived = 0 }},
	}
}
