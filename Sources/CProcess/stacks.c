#define _GNU_SOURCE
#include "CProcess.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { stack_part = 1 << 20, page = 4096 };

#if defined(__x86_64__) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

// A thread can be stopped without a trace only by another process: a signal would end its sleep. So a copy of this process
// stops the thread, takes its registers and the newest part of its stack, and lets it go. It puts the part where it has its own copy
// of that stack, and the registers into a signal's frame: from there the unwinder of the compiler's library finds the other calls.

struct result {
  _Atomic int failure, count;
  struct cprocess_stack stacks[];
};

/// The state of the copy of this process; unused in this process.
static struct {
  const void *object;
  struct result *result;
  int capacity;
  pid_t thread;
  struct user_regs_struct registers;
  /// The start of the frame of the call that is looked at, and its number; -1 before the handler's own frames are passed.
  uintptr_t frame;
  int last;
} copy;

static bool holds(uintptr_t start, uintptr_t end) {
  for (uintptr_t *word = (uintptr_t *)start; (uintptr_t)word < end; word++) {
    if (*word == (uintptr_t)copy.object) return true;
  }
  return false;
}

static _Unwind_Reason_Code see(struct _Unwind_Context *context, void *unused) {
  (void)unused;
  // The numbers that DWARF has for the registers that a call preserves: RBX, RBP, R12 to R15.
  static const int preserved[] = {3, 6, 12, 13, 14, 15};
  struct cprocess_stack *stack = &copy.result->stacks[copy.result->count];
  int before = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before), start = _Unwind_GetCFA(context);
  if (copy.last < 0 && address != copy.registers.rip) return _URC_NO_REASON;
  // The frame of the call before ends where this one starts.
  if (copy.last >= 0 && !stack->holds[copy.last] && start - copy.frame <= stack_part) {
    stack->holds[copy.last] = holds(copy.frame, start);
  }
  if (address == 0 || stack->count == cprocess_call_limit) return _URC_END_OF_STACK;
  copy.last = stack->count++;
  copy.frame = start;
  stack->calls[copy.last] = address;
  stack->holds[copy.last] = false;
  for (size_t i = 0; i < sizeof preserved / sizeof *preserved; i++) {
    if (_Unwind_GetGR(context, preserved[i]) == (uintptr_t)copy.object) stack->holds[copy.last] = true;
  }
  return _URC_NO_REASON;
}

static void unwind(int number, siginfo_t *info, void *data) {
  (void)number;
  (void)info;
  ucontext_t *context = data;
  gregset_t own;
  greg_t *now = context->uc_mcontext.gregs;
  const struct user_regs_struct *to = &copy.registers;
  memcpy(own, now, sizeof own);
  now[REG_RIP] = to->rip, now[REG_RSP] = to->rsp, now[REG_RBP] = to->rbp, now[REG_RBX] = to->rbx;
  now[REG_RAX] = to->rax, now[REG_RCX] = to->rcx, now[REG_RDX] = to->rdx, now[REG_RSI] = to->rsi;
  now[REG_RDI] = to->rdi, now[REG_R8] = to->r8, now[REG_R9] = to->r9, now[REG_R10] = to->r10;
  now[REG_R11] = to->r11, now[REG_R12] = to->r12, now[REG_R13] = to->r13, now[REG_R14] = to->r14;
  now[REG_R15] = to->r15;
  copy.last = -1;
  _Unwind_Backtrace(see, NULL);
  memcpy(now, own, sizeof own);
}

/// Stops a thread, copies what belongs to its calls, and lets it go; false if it does not stop.
static bool take(pid_t process) {
  const struct timespec pause = {.tv_nsec = 100000};
  int status, left = 20000;
  pid_t stopped;
  if (ptrace(PTRACE_SEIZE, copy.thread, NULL, NULL) != 0) {
    // A thread that has ended meanwhile.
    if (errno != ESRCH) copy.result->failure = errno;
    return false;
  }
  if (ptrace(PTRACE_INTERRUPT, copy.thread, NULL, NULL) != 0) return false;
  while ((stopped = waitpid(copy.thread, &status, __WALL | WNOHANG)) == 0 && left-- > 0) nanosleep(&pause, NULL);
  if (stopped == 0) copy.result->failure = ETIMEDOUT;
  if (stopped != copy.thread || !WIFSTOPPED(status)) return false;
  struct iovec registers = {&copy.registers, sizeof copy.registers};
  bool has = ptrace(PTRACE_GETREGSET, copy.thread, NT_PRSTATUS, &registers) == 0;
  // With the 128 bytes below, that a function may use without a call.
  uintptr_t start = (copy.registers.rsp - 128) & ~(uintptr_t)(page - 1);
  for (uintptr_t at = start; has && at < start + stack_part; at += page) {
    struct iovec part = {(void *)at, page};
    if (process_vm_readv(process, &part, 1, &part, 1, 0) != page) break;
  }
  // A signal that came just then is delivered, as is any stop of the whole process.
  int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
  ptrace(PTRACE_DETACH, copy.thread, NULL, signal);
  return has;
}

static _Noreturn void look(pid_t process, const pid_t *threads, size_t count) {
  static char stack[64 * 1024];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = unwind, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  sigaltstack(&other, NULL);
  sigaction(SIGUSR1, &action, NULL);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  for (size_t i = 0; i < count && copy.result->count < copy.capacity; i++) {
    struct cprocess_stack *found = &copy.result->stacks[copy.result->count];
    *found = (struct cprocess_stack){.thread = threads[i]};
    copy.thread = threads[i];
    if (!take(process)) {
      // The system allows it for none; a thread that waits for a device stops later.
      if (copy.result->failure != 0 && copy.result->failure != ETIMEDOUT) break;
      continue;
    }
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
    bool isFound = false;
    for (int call = 0; call < found->count; call++) isFound |= found->holds[call];
    if (isFound) copy.result->count++;
  }
  _exit(0);
}

/// The threads of this process but this one, in memory that the caller frees; NULL with errno on failure.
static pid_t *other_threads(size_t *count) {
  pid_t self = (pid_t)syscall(SYS_gettid), *threads = NULL;
  DIR *folder = opendir("/proc/self/task");
  struct dirent *entry;
  *count = 0;
  if (folder == NULL) return NULL;
  while ((entry = readdir(folder)) != NULL) {
    pid_t thread = atoi(entry->d_name);
    if (thread <= 0 || thread == self) continue;
    pid_t *more = realloc(threads, (*count + 1) * sizeof *threads);
    if (more == NULL) break;
    threads = more;
    threads[(*count)++] = thread;
  }
  closedir(folder);
  return threads;
}

static _Unwind_Reason_Code stop_at_once(struct _Unwind_Context *context, void *unused) {
  (void)context;
  (void)unused;
  return _URC_END_OF_STACK;
}

int cprocess_find_stacks(const void *object, struct cprocess_stack *stacks, int capacity, int patience) {
  size_t length = sizeof(struct result) + (size_t)(capacity + 1) * sizeof(struct cprocess_stack), count = 0;
  int go[2], ends[2], saved, number = -1;
  pid_t *threads = other_threads(&count), self = getpid();
  struct result *result =
      mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (result == MAP_FAILED) return free(threads), -1;
  if (pipe2(go, O_CLOEXEC) != 0) goto unmap;
  if (pipe2(ends, O_CLOEXEC) != 0) goto close_go;
  // In the copy the lock of the dynamic linker may stay taken.
  _Unwind_Backtrace(stop_at_once, NULL);
  copy.object = object;
  copy.result = result;
  copy.capacity = capacity;
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &mask);
  // Without a signal at its end, so that the program's own waits don't see it.
  pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
  if (child == 0) {
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(go[1]);
    close(ends[0]);
    if (read(go[0], &byte, 1) == 1) look(self, threads, count);
    _exit(1);
  }
  saved = errno;
  close(ends[1]);
  if (child > 0) {
    // Yama, if the system has it, lets a child look only if it is named.
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    ssize_t wrote = write(go[1], "", 1);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    bool isLate = wrote != 1 || poll(&end, 1, patience) <= 0;
    int status = 0;
    if (isLate) kill(child, SIGKILL);
    while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {}
    prctl(PR_SET_PTRACER, 0, 0, 0, 0);
    saved = result->failure;
    if (saved == 0 && status != 0) saved = isLate ? ETIMEDOUT : EFAULT;
    number = result->count;
    memcpy(stacks, result->stacks, (size_t)number * sizeof *stacks);
    if (number == 0 && saved != 0) number = -1;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  close(ends[0]);
  errno = saved;
close_go:
  saved = errno;
  close(go[0]);
  close(go[1]);
  errno = saved;
unmap:
  saved = errno;
  munmap(result, length);
  free(threads);
  errno = saved;
  return number;
}

#else

int cprocess_find_stacks(const void *object, struct cprocess_stack *stacks, int capacity, int patience) {
  (void)object, (void)stacks, (void)capacity, (void)patience;
  errno = ENOTSUP;
  return -1;
}

#endif

// Names

/// The loaded file that has an address, and the difference of its addresses in memory and in the file.
struct module {
  uintptr_t address, bias;
  char path[PATH_MAX];
  bool isFound;
};

static int match(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct module *module = data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || module->address < start || module->address >= start + part->p_memsz) continue;
    module->bias = info->dlpi_addr;
    // The program itself has no name here, and its file may have been replaced.
    bool isProgram = info->dlpi_name == NULL || info->dlpi_name[0] == 0;
    snprintf(module->path, sizeof module->path, "%s", isProgram ? "/proc/self/exe" : info->dlpi_name);
    return module->isFound = true;
  }
  return 0;
}

/// Finds the function of an address of the file in one of its symbol tables.
static bool find_symbol(const char *file, size_t length, const ElfW(Shdr) *table, const ElfW(Shdr) *names, uintptr_t address,
                        char *name, size_t capacity) {
  size_t count = table->sh_size / sizeof(ElfW(Sym));
  const ElfW(Sym) *best = NULL;
  if (table->sh_offset > length || table->sh_size > length - table->sh_offset || names->sh_offset > length ||
      names->sh_size > length - names->sh_offset || names->sh_size == 0)
    return false;
  for (size_t i = 0; i < count; i++) {
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)(file + table->sh_offset) + i;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value > address || symbol->st_shndx == SHN_UNDEF) continue;
    if (address - symbol->st_value >= (symbol->st_size == 0 ? page : symbol->st_size)) continue;
    if (best == NULL || symbol->st_value > best->st_value) best = symbol;
  }
  if (best == NULL || best->st_name >= names->sh_size) return false;
  snprintf(name, capacity, "%.*s", (int)(names->sh_size - best->st_name), file + names->sh_offset + best->st_name);
  return true;
}

static bool find_in_file(const struct module *module, char *name, size_t capacity) {
  struct stat status;
  bool isFound = false;
  int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return false;
  size_t length = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
  char *file = length < sizeof(ElfW(Ehdr)) ? MAP_FAILED : mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (file == MAP_FAILED) return false;
  const ElfW(Ehdr) *header = (const void *)file;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_shentsize == sizeof(ElfW(Shdr)) &&
      header->e_shoff <= length && header->e_shnum <= (length - header->e_shoff) / sizeof(ElfW(Shdr))) {
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);
    // The whole table if there is one, then the table of the exported functions.
    for (int pass = 0; pass < 2 && !isFound; pass++) {
      for (int i = 0; i < header->e_shnum && !isFound; i++) {
        if (sections[i].sh_type != (pass == 0 ? SHT_SYMTAB : SHT_DYNSYM) || sections[i].sh_link >= header->e_shnum) continue;
        isFound = find_symbol(file, length, &sections[i], &sections[sections[i].sh_link], module->address - module->bias,
                              name, capacity);
      }
    }
  }
  munmap(file, length);
  return isFound;
}

bool cprocess_find_function(uintptr_t address, char *name, size_t capacity, char *file, size_t file_capacity) {
  struct module module = {.address = address};
  file[0] = 0;
  dl_iterate_phdr(match, &module);
  snprintf(name, capacity, "0x%" PRIxPTR, address - module.bias);
  if (!module.isFound) return false;
  char target[PATH_MAX];
  ssize_t length = readlink(module.path, target, sizeof target - 1);
  if (strcmp(module.path, "/proc/self/exe") != 0 || length < 0) length = snprintf(target, sizeof target, "%s", module.path);
  target[length] = 0;
  const char *slash = strrchr(target, '/');
  snprintf(file, file_capacity, "%s", slash == NULL ? target : slash + 1);
  return find_in_file(&module, name, capacity);
}
