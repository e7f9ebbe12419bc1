//go:build !manual

package manual

import "github.com/spf13/cobra"

// Commands returns nothing in a binary that ships.
func Commands() []*cobra.Command { return nil }
