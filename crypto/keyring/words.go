package keyring

import (
	_ "embed"
	"math/big"
	"strings"
	"sync"
)

// The word lists of BIP 39, one word a line. The module that the tests use for them would link
// seven more, and split all nine when the program starts.
var (
	//go:embed words/english.txt
	english string
	//go:embed words/chinese.txt
	chinese string

	englishWords = sync.OnceValue(func() []string { return strings.Fields(english) })
	chineseWords = sync.OnceValue(func() []string { return strings.Fields(chinese) })
)

// Words writes the first bits of a hash as n English words of the phrase's
// list, 11 bits each, for people to compare.
func Words(hash []byte, n int) []string {
	bits := new(big.Int).SetBytes(hash)
	bits.Rsh(bits, uint(max(0, 8*len(hash)-n*wordBits)))
	mask := big.NewInt(1<<wordBits - 1)
	words := make([]string, n)
	for i := n - 1; i >= 0; i-- {
		words[i] = englishWords()[new(big.Int).And(bits, mask).Int64()]
		bits.Rsh(bits, wordBits)
	}
	return words
}
