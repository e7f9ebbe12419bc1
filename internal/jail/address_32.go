//go:build !amd64 && !arm64 && !riscv64 && !ppc64le && !s390x && !loong64 && !mips64le

package jail

// maxAddress limits the address space.
const maxAddress = 1 << 30
