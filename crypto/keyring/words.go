package keyring

import (
	"math/big"

	"github.com/tyler-smith/go-bip39/wordlists"
)

// Words writes the first bits of a hash as n English words of the phrase's
// list, 11 bits each, for people to compare.
func Words(hash []byte, n int) []string {
	bits := new(big.Int).SetBytes(hash)
	bits.Rsh(bits, uint(max(0, 8*len(hash)-n*wordBits)))
	mask := big.NewInt(1<<wordBits - 1)
	words := make([]string, n)
	for i := n - 1; i >= 0; i-- {
		words[i] = wordlists.English[new(big.Int).And(bits, mask).Int64()]
		bits.Rsh(bits, wordBits)
	}
	return words
}
