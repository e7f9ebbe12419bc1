//go:build amd64 || arm64 || riscv64 || ppc64le || s390x || loong64 || mips64le

package jail

// maxAddress limits the address space. The Go runtime reserves 1 to 2 GB of it without using them.
const maxAddress = 8 << 30
