package noted

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Meal reports words for food that is ready to be eaten, and is soon gone.
func Meal(s string) bool { return meals[discourse.Last(s)] }

var meals = syntax.Set("coffee dinner soup lunch tea breakfast cake rice porridge stew food supper pizza beer wine milk bread")
