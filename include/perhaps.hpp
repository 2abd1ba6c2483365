/*
 * perhaps.hpp: perhaps.h for C++17 and later. Header only; link with the C library.
 *
 *     auto made = ph::filter::create({.items = 5000000, .fpr = 0.01});     // C++17: see ph::want
 *     if (!made) return std::fprintf(stderr, "%s\n", made.error().message()), 1;
 *     ph::filter phones = std::move(*made);
 *     phones.add("13800138000").value();
 *     if (phones.contains(key)) look_it_up(key);
 *     phones.save("phones.ph").value();
 *
 * Names, promises and thread rules are those of perhaps.h, the manual; `const` members are its
 * calls that read. The namespace is `ph`, because `perhaps` is the name of the C type.
 *
 * Errors
 *   A call that can fail returns ph::result<T>, which has the names of std::expected. value() of an
 *   error throws ph::exception if PERHAPS_EXCEPTIONS is defined before this header is included.
 *   Otherwise it prints the sentence to stderr and aborts. Nothing else throws or aborts, except
 *   filter::members(). A filter that was moved from, or is default-constructed, may only be
 *   destroyed, assigned, swapped and tested; this is asserted.
 */
#ifndef PERHAPS_HPP
#define PERHAPS_HPP

#include <perhaps_embed.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

/* Compound literals are not C++: ph::want, ph::open_options and ph::seal_options replace these. */
#undef PERHAPS_WANT
#undef PERHAPS_OPEN
#undef PERHAPS_SEAL
#undef PERHAPS_RECIPE

#if defined(PERHAPS_EXCEPTIONS) && !defined(__cpp_exceptions)
#error "PERHAPS_EXCEPTIONS is defined, but the compiler's exceptions are off (-fno-exceptions)"
#endif

namespace ph {

/* Files with and without PERHAPS_EXCEPTIONS may be linked together, but exchange no types of ph. */
#ifdef PERHAPS_EXCEPTIONS
inline namespace throwing {
#else
inline namespace aborting {
#endif

/* ----------------------------------------------------------------------------------- enums --- */

enum class errc : int {
    ok = PERHAPS_OK,
    invalid = PERHAPS_EINVAL,
    no_memory = PERHAPS_ENOMEM,
    io = PERHAPS_EIO,
    foreign = PERHAPS_EFOREIGN,
    version = PERHAPS_EVERSION,
    damaged = PERHAPS_EDAMAGED,
    key = PERHAPS_EKEY,
    cannot = PERHAPS_ECANNOT,
    mismatch = PERHAPS_EMISMATCH,
    read_only = PERHAPS_EREADONLY,
    dirty = PERHAPS_EDIRTY,
    range = PERHAPS_ERANGE,
    busy = PERHAPS_EBUSY,
    full = PERHAPS_EFULL,
    sealed = PERHAPS_ESEALED,
    unsealed = PERHAPS_EUNSEALED
};

enum class kind : int {
    any = PERHAPS_ANY,
    bloom = PERHAPS_BLOOM,
    blocked = PERHAPS_BLOCKED,
    counting = PERHAPS_COUNTING,
    cuckoo = PERHAPS_CUCKOO,
    table = PERHAPS_TABLE,
    bitmap = PERHAPS_BITMAP,
    growing = PERHAPS_GROWING,
    window = PERHAPS_WINDOW,
    sharded = PERHAPS_SHARDED,
    redis_bloom = PERHAPS_REDIS_BLOOM,
    redis_cuckoo = PERHAPS_REDIS_CUCKOO,
    guava = PERHAPS_GUAVA,
    dcso = PERHAPS_DCSO,
    parquet = PERHAPS_PARQUET,
    spark = PERHAPS_SPARK,
    fuse = PERHAPS_FUSE,
    ribbon = PERHAPS_RIBBON
};

enum class hash : int {
    automatic = PERHAPS_HASH_DEFAULT,
    xxh3 = PERHAPS_XXH3,
    siphash = PERHAPS_SIPHASH,
    identity = PERHAPS_IDENTITY,
    murmur = PERHAPS_MURMUR,
    murmur3 = PERHAPS_MURMUR3,
    fnv = PERHAPS_FNV,
    xxh64 = PERHAPS_XXH64,
    murmur3_32 = PERHAPS_MURMUR3_32
};

enum class grow : int { automatic = PERHAPS_GROW_DEFAULT, never = PERHAPS_GROW_NEVER, layers = PERHAPS_GROW_LAYERS };

/* The next three are sets of bits: combine with |, test with has(). */
enum class ability : unsigned {
    none = 0,
    add = PERHAPS_ADD,
    remove = PERHAPS_REMOVE,
    count = PERHAPS_COUNT,
    merge = PERHAPS_MERGE,
    intersect = PERHAPS_INTERSECT,
    subtract = PERHAPS_SUBTRACT,
    grow = PERHAPS_GROW,
    list = PERHAPS_LIST,
    in_place = PERHAPS_IN_PLACE
};

enum class trait : unsigned {
    none = 0,
    takes_bytes = PERHAPS_TAKES_BYTES,
    takes_digests = PERHAPS_TAKES_DIGESTS,
    exact = PERHAPS_EXACT,
    sealable = PERHAPS_STATIC,
    multiset = PERHAPS_MULTISET,
    parallel = PERHAPS_PARALLEL
};

enum class open_flag : unsigned {
    none = 0,
    copy = PERHAPS_OPEN_COPY,
    write = PERHAPS_OPEN_WRITE,
    no_verify = PERHAPS_OPEN_NO_VERIFY,
    recover = PERHAPS_OPEN_RECOVER,
    shared = PERHAPS_OPEN_SHARED
};

namespace detail {

template <class E>
using if_set =
    std::enable_if_t<std::is_same_v<E, ability> || std::is_same_v<E, trait> || std::is_same_v<E, open_flag>, int>;

} // namespace detail

template <class E, detail::if_set<E> = 0> constexpr E operator|(E a, E b) noexcept {
    return static_cast<E>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/* Whether `set` has all of `bits`. */
template <class E, detail::if_set<E> = 0> constexpr bool has(E set, E bits) noexcept {
    return (static_cast<unsigned>(set) & static_cast<unsigned>(bits)) == static_cast<unsigned>(bits);
}

/* ---------------------------------------------------------------------------------- errors --- */

/* A number and a sentence. It owns a copy of perhaps_why(); without memory for one, message() is
 * perhaps_strerror(). */
class error {
  public:
    error() noexcept = default;
    explicit error(errc code, const char *message = nullptr) noexcept : code_(code), text_(copy_of(message)) {}
    error(const error &other) noexcept : error(other.code_, other.text_.get()) {}
    error(error &&) noexcept = default;
    error &operator=(error other) noexcept {
        code_ = other.code_;
        text_ = std::move(other.text_);
        return *this;
    }
    ~error() = default;

    errc code() const noexcept { return code_; }
    const char *message() const noexcept { return text_ ? text_.get() : ::perhaps_strerror(static_cast<int>(code_)); }

  private:
    static std::unique_ptr<char[]> copy_of(const char *text) noexcept {
        if (!text) return nullptr;
        std::size_t size = std::strlen(text) + 1;
        std::unique_ptr<char[]> copy(new (std::nothrow) char[size]);
        if (copy) std::memcpy(copy.get(), text, size);
        return copy;
    }

    errc code_ = errc::ok;
    std::unique_ptr<char[]> text_;
};

#ifdef PERHAPS_EXCEPTIONS
class exception : public std::runtime_error {
  public:
    explicit exception(const error &e) : std::runtime_error(e.message()), code_(e.code()) {}
    errc code() const noexcept { return code_; }

  private:
    errc code_;
};
#endif

namespace detail {

[[noreturn, gnu::cold]] inline void fail(const error &e) {
#ifdef PERHAPS_EXCEPTIONS
    throw exception(e);
#else
    std::fprintf(stderr, "perhaps: %s\n", e.message());
    std::abort();
#endif
}

/* Why the C call that returned this number failed. */
[[gnu::cold, gnu::noinline]] inline error why(std::int64_t rc) noexcept {
    return error(static_cast<errc>(rc), ::perhaps_why());
}

} // namespace detail

/* A value or an error. value() checks; * and -> assert. A result<bool> or of a number has no
 * conversion to bool: `if (f.add(key))` would say "no error" and read as "is new". */
template <class T> class [[nodiscard]] result {
  public:
    using value_type = T;
    using error_type = ph::error;

    result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
    result(ph::error e) noexcept : error_(std::move(e)) {}

    bool has_value() const noexcept { return value_.has_value(); }
    template <class U = T, std::enable_if_t<!std::is_arithmetic_v<U>, int> = 0>
    explicit operator bool() const noexcept {
        return has_value();
    }

    T &value() & {
        if (!has_value()) detail::fail(error_);
        return *value_;
    }
    const T &value() const & {
        if (!has_value()) detail::fail(error_);
        return *value_;
    }
    T &&value() && {
        if (!has_value()) detail::fail(error_);
        return std::move(*value_);
    }

    T &operator*() &noexcept {
        assert(has_value());
        return *value_;
    }
    const T &operator*() const &noexcept {
        assert(has_value());
        return *value_;
    }
    T &&operator*() &&noexcept {
        assert(has_value());
        return std::move(*value_);
    }
    T *operator->() noexcept {
        assert(has_value());
        return &*value_;
    }
    const T *operator->() const noexcept {
        assert(has_value());
        return &*value_;
    }

    template <class U> T value_or(U &&other) const & {
        return has_value() ? *value_ : static_cast<T>(std::forward<U>(other));
    }
    template <class U> T value_or(U &&other) && {
        return has_value() ? std::move(*value_) : static_cast<T>(std::forward<U>(other));
    }

    /* The error; errc::ok if there is none. */
    const ph::error &error() const noexcept { return error_; }

  private:
    std::optional<T> value_;
    ph::error error_;
};

template <> class [[nodiscard]] result<void> {
  public:
    using value_type = void;
    using error_type = ph::error;

    result() noexcept = default;
    result(ph::error e) noexcept : error_(std::move(e)) {}

    bool has_value() const noexcept { return error_.code() == errc::ok; }
    explicit operator bool() const noexcept { return has_value(); }
    void value() const {
        if (!has_value()) detail::fail(error_);
    }
    const ph::error &error() const noexcept { return error_; }

  private:
    ph::error error_;
};

namespace detail {

/* What a C call returned, as a result. */
template <class T> result<T> answer(std::int64_t rc) noexcept {
    if (rc < 0) return why(rc);
    if constexpr (std::is_same_v<T, bool>)
        return rc != 0;
    else if constexpr (!std::is_void_v<T>)
        return static_cast<T>(rc);
    else
        return {};
}

} // namespace detail

/* ----------------------------------------------------------------------------------- views --- */

/* Elements side by side in the caller's memory: a subset of std::span. Converts from arrays, and
 * from all that has data() and size(): std::vector, std::array, std::span. */
template <class T> class span {
    template <class C>
    using if_fits = std::enable_if_t<
        !std::is_same_v<std::decay_t<C>, span> &&
            std::is_convertible_v<std::remove_pointer_t<decltype(std::data(std::declval<C &>()))> (*)[], T (*)[]> &&
            std::is_convertible_v<decltype(std::size(std::declval<C &>())), std::size_t>,
        int>;

  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <class C, if_fits<C> = 0>
    constexpr span(C &&elements) noexcept : data_(std::data(elements)), size_(std::size(elements)) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

template <class T>
constexpr bool is_byte = std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte> || std::is_same_v<T, char> ||
                         std::is_same_v<T, signed char>;

template <class C> using element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>>;

/* Text converts to std::string_view; a character array ends at its first zero byte. */
template <class T> constexpr bool is_text = std::is_convertible_v<const T &, std::string_view>;

/* Containers and arrays of bytes that are not text. */
template <class C, class = void> constexpr bool is_bytes = false;
template <class C> constexpr bool is_bytes<C, std::enable_if_t<!is_text<C> && is_byte<element<const C>>>> = true;

/* Bytes in the object itself, so that an array of records has them at equal distances. */
template <class T> constexpr bool is_fixed = is_bytes<T> &&std::is_array_v<T>;
template <class T, std::size_t N> constexpr bool is_fixed<std::array<T, N>> = is_bytes<std::array<T, N>>;

template <class T>
constexpr bool is_character =
    std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>
#ifdef __cpp_char8_t
    || std::is_same_v<T, char8_t>
#endif
    ;

template <class T>
constexpr bool is_integer = std::is_integral_v<T> && sizeof(T) <= sizeof(std::uint64_t) && !std::is_same_v<T, bool> &&
                            !is_character<T>;

} // namespace detail

/* Bytes in the caller's memory: text, a container of bytes, or {data, size}. */
class bytes {
  public:
    bytes(const void *data, std::size_t size) noexcept : data_(data ? data : ""), size_(size) {}
    template <class T, std::enable_if_t<detail::is_text<T>, int> = 0> bytes(const T &text) : bytes(view(text)) {}
    template <class C, std::enable_if_t<detail::is_bytes<C>, int> = 0>
    bytes(const C &container) noexcept : bytes(std::data(container), std::size(container)) {}
    bytes(std::nullptr_t) = delete;

    const void *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    struct view : std::string_view {
        template <class T> explicit view(const T &text) : std::string_view(text) {}
    };
    bytes(const view &text) noexcept : bytes(text.data(), text.size()) {}

    const void *data_;
    std::size_t size_;
};

/* A string that ends in a zero byte: const char *, std::string, std::filesystem::path. */
class c_string {
  public:
    c_string(const char *text) noexcept : text_(text) {}
    template <class S, std::enable_if_t<
                           std::is_convertible_v<decltype(std::declval<const S &>().c_str()), const char *>, int> = 0>
    c_string(const S &text) noexcept : text_(text.c_str()) {}
    const char *c_str() const noexcept { return text_; }

  private:
    const char *text_;
};

/* A key that is already hashed. A type of its own, so that it is no integer. */
struct digest {
    std::uint64_t value = 0;

    friend constexpr bool operator==(digest a, digest b) noexcept { return a.value == b.value; }
    friend constexpr bool operator!=(digest a, digest b) noexcept { return a.value != b.value; }
    friend constexpr bool operator<(digest a, digest b) noexcept { return a.value < b.value; }
};

static_assert(sizeof(digest) == sizeof(std::uint64_t) && std::is_standard_layout_v<digest>,
              "an array of digests is one of integers for the C library");

/*
 * One key, in one of three forms. It borrows the caller's memory for the time of the call.
 *
 *     f.add("abc"), f.add(text)      bytes: what converts to std::string_view
 *     f.add({data, size}), f.add(v)  bytes: any; arrays and containers of std::byte and the like
 *     f.add(42)                      an integer. Signed ones are sign-extended to 64 bits
 *     f.add(ph::digest{d})           a digest
 *
 * Characters, bool, floating point and nullptr are no keys, and do not compile.
 */
class key {
  public:
    template <class T, std::enable_if_t<std::is_convertible_v<const T &, bytes>, int> = 0>
    key(const T &text) : key(static_cast<bytes>(text)) {}
    key(const bytes &b) noexcept : form_(form::bytes), data_(b.data()), size_(b.size()) {}
    key(const void *data, std::size_t size) noexcept : key(bytes(data, size)) {}
    template <class T, std::enable_if_t<detail::is_integer<T>, int> = 0>
    constexpr key(T integer) noexcept : form_(form::integer), word_(static_cast<std::uint64_t>(integer)) {}
    constexpr key(digest d) noexcept : form_(form::digest), word_(d.value) {}
    template <class T, std::enable_if_t<std::is_arithmetic_v<T> && !detail::is_integer<T>, int> = 0>
    key(T not_a_key) = delete;
    key(std::nullptr_t) = delete;

  private:
    friend class filter;
    friend class hasher;
    enum class form { bytes, integer, digest };

    /* Calls the one of three C functions that takes this form. */
    template <class Handle, class Bytes, class Integer, class Digest>
    auto call(Handle *handle, Bytes take_bytes, Integer take_integer, Digest take_digest) const noexcept {
        assert(handle);
        if (form_ == form::bytes) return take_bytes(handle, data_, size_);
        if (form_ == form::integer) return take_integer(handle, word_);
        return take_digest(handle, word_);
    }

    form form_;
    const void *data_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t word_ = 0;
};

/*
 * A batch of keys in the caller's memory. Converts from a vector, array or span of
 *
 *     64-bit integers, digests         no copy
 *     text, containers of bytes        no copy of the bytes; the call takes 16 bytes of memory per
 *                                      key beyond 64 keys, since a batch must be one C call
 *
 * and is made by packed(), fixed() and keys_of() from the rest.
 */
class keys {
    template <class T> static constexpr bool is_word = detail::is_integer<T> && sizeof(T) == sizeof(std::uint64_t);
    template <class T>
    static constexpr bool is_key = is_word<T> || std::is_same_v<T, digest> || std::is_convertible_v<const T &, bytes>;

  public:
    template <class C, std::enable_if_t<is_key<detail::element<const C>>, int> = 0>
    keys(const C &elements) noexcept : keys(std::data(elements), std::size(elements), sizeof(*std::data(elements))) {}

    /* Bytes in one buffer: key i is from offsets[i] to offsets[i + 1]. */
    static keys packed(bytes buffer, span<const std::uint32_t> offsets) noexcept { return packed_by(buffer, offsets); }
    static keys packed(bytes buffer, span<const std::uint64_t> offsets) noexcept { return packed_by(buffer, offsets); }

    /* n keys of `width` bytes, `stride` bytes from one to the next; 0 = side by side. */
    static keys fixed(const void *data, std::size_t width, std::size_t n, std::size_t stride = 0) noexcept {
        return keys(::perhaps_keys{PERHAPS_KEYS_FORM_FIXED, n, data, nullptr, width, stride});
    }

    std::size_t size() const noexcept { return c_.n; }

  private:
    friend class filter;
    friend class hasher;
    template <class R, class M> friend keys keys_of(span<const R> records, M R::*member) noexcept;

    static constexpr std::size_t none = SIZE_MAX;
    static constexpr std::size_t few = 64;

    explicit keys(const ::perhaps_keys &c) noexcept : c_(c) {}

    template <class T>
    keys(const T *first, std::size_t n, std::size_t stride) noexcept
        : c_{PERHAPS_KEYS_FORM_U64, n, first, nullptr, sizeof(std::uint64_t), stride} {
        if constexpr (std::is_same_v<T, digest>) {
            c_.form = PERHAPS_KEYS_FORM_DIGEST;
        } else if constexpr (detail::is_fixed<T>) {
            c_.form = PERHAPS_KEYS_FORM_FIXED;
            c_.width = sizeof(T);
        } else if constexpr (!is_word<T>) {
            static_assert(is_key<T>, "not a key: it is no 64-bit integer, digest, text or bytes");
            bytes_of_ = [](const void *key) noexcept -> bytes { return *static_cast<const T *>(key); };
        }
    }

    template <class Offset> static keys packed_by(bytes buffer, span<const Offset> offsets) noexcept {
        std::size_t n = offsets.empty() ? 0 : offsets.size() - 1;
        keys made(::perhaps_keys{PERHAPS_KEYS_FORM_PACKED, n, buffer.data(), offsets.data(), sizeof(Offset), 0});
        if (n && offsets[n] > buffer.size()) made.wrong_ = "the last offset of a packed batch is beyond its buffer";
        return made;
    }

    /* Calls a C function with the whole batch. `places` is the size of the caller's answers. */
    template <class T, class Call> result<T> run(std::size_t places, Call call) const noexcept {
        if (wrong_) return error(errc::invalid, wrong_);
        if (places != none && places != c_.n) return wrong_size(places);
        return bytes_of_ ? gather<T>(call) : detail::answer<T>(call(&c_));
    }

    [[gnu::cold]] error wrong_size(std::size_t places) const noexcept {
        char text[128];
        std::snprintf(text, sizeof text, "there are %zu places for the answers of %zu keys; give one for each key",
                      places, c_.n);
        return error(errc::invalid, text);
    }

    template <class T, class Call> result<T> gather(Call call) const noexcept {
        const void *few_pointers[few];
        std::size_t few_lengths[few];
        std::unique_ptr<const void *[]> many_pointers;
        std::unique_ptr<std::size_t[]> many_lengths;
        const void **pointers = few_pointers;
        std::size_t *lengths = few_lengths;
        if (c_.n > few) {
            many_pointers.reset(pointers = new (std::nothrow) const void *[c_.n]);
            many_lengths.reset(lengths = new (std::nothrow) std::size_t[c_.n]);
            if (!pointers || !lengths) return error(errc::no_memory);
        }
        for (std::size_t i = 0; i < c_.n; i++) {
            bytes key = bytes_of_(static_cast<const char *>(c_.data) + i * c_.stride);
            pointers[i] = key.data();
            lengths[i] = key.size();
        }
        ::perhaps_keys whole{PERHAPS_KEYS_FORM_BYTES, c_.n, pointers, lengths, sizeof *lengths, 0};
        return detail::answer<T>(call(&whole));
    }

    ::perhaps_keys c_;
    bytes (*bytes_of_)(const void *key) noexcept = nullptr; /* elements that must be gathered */
    const char *wrong_ = nullptr;                           /* why the batch is invalid */
};

/* A member of each of an array of records, without copying: a 64-bit integer, a digest, text, or
 * bytes. An array or std::array of std::byte or unsigned char is a key of its whole length. */
template <class R, class M> keys keys_of(span<const R> records, M R::*member) noexcept {
    const M *first = records.empty() ? nullptr : std::addressof(records.data()->*member);
    return keys(first, records.size(), sizeof(R));
}
template <class C, class R, class M> keys keys_of(const C &records, M R::*member) noexcept {
    return keys_of(span<const R>(records), member);
}

/* --------------------------------------------------------------------------- want and plan --- */

/* What the caller wants: perhaps_want, with its order of fields. `.items = 100` in C++20; in C++17
 * `ph::want want; want.items = 100;`. */
struct want {
    ph::kind kind = ph::kind::any;
    ability needs = ability::none;
    std::uint64_t items = 0;
    double fpr = 0;
    double bits_per_key = 0;
    std::uint64_t bytes = 0;
    ph::grow grow = ph::grow::automatic;
    double growth = 0;
    std::uint64_t max_bytes = 0;
    unsigned generations = 0;
    std::uint64_t period = 0;
    double clear_at = 0;
    unsigned shards = 0;
    bool shared = false;
    unsigned hashes = 0;
    unsigned lines = 0;
    unsigned bucket = 0;
    unsigned steps = 0;
    ph::hash hash = ph::hash::automatic;
    std::uint64_t seed = 0;
    span<const std::uint8_t> hash_key = {}; /* 16 bytes; copied by create() */
    bool key_in_file = false;
    std::uint64_t max_scratch = 0;
    const char *scratch_dir = nullptr;
    const ::perhaps_recipe *recipe = nullptr;
    const ::perhaps_allocator *allocator = nullptr;
};

struct open_options {
    open_flag flags = open_flag::none;
    ph::kind kind = ph::kind::any;
    span<const std::uint8_t> hash_key = {}; /* 16 bytes */
    const ::perhaps_allocator *allocator = nullptr;
};

struct seal_options {
    unsigned threads = 1; /* 0 = one for each processor */
    void (*progress)(void *context, std::uint64_t done, std::uint64_t all) = nullptr;
    void *context = nullptr;
};

namespace detail {

/* The C library takes a pointer to 16 bytes: whether there are as many, or none. */
inline bool good_hash_key(span<const std::uint8_t> hash_key) noexcept {
    return hash_key.empty() || hash_key.size() == 16;
}

inline error bad_hash_key() noexcept {
    return error(errc::invalid, "a hash_key has 16 bytes");
}

inline ::perhaps_want in_c(const want &w) noexcept {
    ::perhaps_want c;
    ::perhaps_want_init(&c);
    c.kind = static_cast<int>(w.kind);
    c.needs = static_cast<unsigned>(w.needs);
    c.items = w.items;
    c.fpr = w.fpr;
    c.bits_per_key = w.bits_per_key;
    c.bytes = w.bytes;
    c.grow = static_cast<int>(w.grow);
    c.growth = w.growth;
    c.max_bytes = w.max_bytes;
    c.generations = w.generations;
    c.period = w.period;
    c.clear_at = w.clear_at;
    c.shards = w.shards;
    c.shared = w.shared;
    c.hashes = w.hashes;
    c.lines = w.lines;
    c.bucket = w.bucket;
    c.steps = w.steps;
    c.hash = static_cast<int>(w.hash);
    c.seed = w.seed;
    c.hash_key = w.hash_key.empty() ? nullptr : w.hash_key.data();
    c.key_in_file = w.key_in_file;
    c.max_scratch = w.max_scratch;
    c.scratch_dir = w.scratch_dir;
    c.recipe = w.recipe;
    c.allocator = w.allocator;
    return c;
}

inline ::perhaps_open_options in_c(const open_options &options) noexcept {
    ::perhaps_open_options c = ::perhaps_open_options();
    c.size = sizeof c;
    c.flags = static_cast<unsigned>(options.flags);
    c.kind = static_cast<int>(options.kind);
    c.hash_key = options.hash_key.empty() ? nullptr : options.hash_key.data();
    c.allocator = options.allocator;
    return c;
}

} // namespace detail

/* What a filter would be, before it is made: struct perhaps_plan. */
struct plan {
    ph::kind kind = ph::kind::any;
    std::uint64_t items = 0;
    double fpr = 0;
    std::uint64_t bytes = 0;
    std::uint64_t image_bytes = 0;
    double bits_per_key = 0;
    double limit_bits_per_key = 0;
    double loss = 0;
    unsigned hashes = 0;
    unsigned lines = 0;
    ability can = ability::none;
    trait traits = trait::none;

    static result<plan> of(const want &w) noexcept {
        if (!detail::good_hash_key(w.hash_key)) return detail::bad_hash_key();
        ::perhaps_want wanted = detail::in_c(w);
        struct ::perhaps_plan c = {};
        c.size = sizeof c;
        int rc = ::perhaps_plan(&wanted, &c);
        if (rc < 0) return detail::why(rc);
        return plan{static_cast<ph::kind>(c.kind),
                    c.items,
                    c.fpr,
                    c.bytes,
                    c.image_bytes,
                    c.bits_per_key,
                    c.limit_bits_per_key,
                    c.loss,
                    c.hashes,
                    c.lines,
                    static_cast<ability>(c.can),
                    static_cast<trait>(c.traits)};
    }
};

/* Everything about a filter: struct perhaps_info. */
struct info {
    ph::kind kind = ph::kind::any;
    const char *kind_name = "";
    ability can = ability::none;
    trait traits = trait::none;
    std::uint64_t capacity = 0;
    std::uint64_t items = 0;
    double distinct = 0;
    double fill = 0;
    double fpr_target = 0;
    double fpr_now = 0;
    double loss = 0;
    std::uint64_t stuck = 0;
    std::uint64_t stashed = 0;
    std::uint64_t bytes = 0;
    std::uint64_t image_bytes = 0;
    double bits_per_key = 0;
    unsigned hashes = 0;
    unsigned lines = 0;
    ph::hash hash = ph::hash::automatic;
    const char *hash_name = "";
    std::uint64_t seed = 0;
    unsigned format_version = 0;
    const char *isa = "";
    bool read_only = false;
    bool shared = false;
    ph::grow grow = ph::grow::automatic;
    ph::kind base = ph::kind::any;
    unsigned children = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t period = 0;
    double growth = 0;
    double clear_at = 0;
    unsigned generations = 0;
    std::uint64_t since = 0;
    bool flooded = false;
    bool collecting = false;
    bool guessed = false;

    info() noexcept = default;
    explicit info(const struct ::perhaps_info &c) noexcept
        : kind(static_cast<ph::kind>(c.kind)), kind_name(c.kind_name), can(static_cast<ability>(c.can)),
          traits(static_cast<trait>(c.traits)), capacity(c.capacity), items(c.items), distinct(c.distinct),
          fill(c.fill), fpr_target(c.fpr_target), fpr_now(c.fpr_now), loss(c.loss), stuck(c.stuck), stashed(c.stashed),
          bytes(c.bytes), image_bytes(c.image_bytes), bits_per_key(c.bits_per_key), hashes(c.hashes), lines(c.lines),
          hash(static_cast<ph::hash>(c.hash)), hash_name(c.hash_name), seed(c.seed), format_version(c.format_version),
          isa(c.isa), read_only(c.read_only != 0), shared(c.shared != 0), grow(static_cast<ph::grow>(c.grow)),
          base(static_cast<ph::kind>(c.base)), children(c.children), max_bytes(c.max_bytes), period(c.period),
          growth(c.growth), clear_at(c.clear_at), generations(c.generations), since(c.since), flooded(c.flooded != 0),
          collecting(c.collecting != 0), guessed(c.guessed != 0) {}
};

/* How many different keys two filters have: struct perhaps_overlap. What a full filter cannot tell
 * is NaN, with an infinite error. */
struct overlap {
    double a = 0;
    double b = 0;
    double both = 0;
    double either = 0;
    double jaccard = 0;
    double a_error = 0;
    double b_error = 0;
    double both_error = 0;
    double either_error = 0;
    double jaccard_error = 0;
    bool exact = false;

    overlap() noexcept = default;
    explicit overlap(const struct ::perhaps_overlap &c) noexcept
        : a(c.a), b(c.b), both(c.both), either(c.either), jaccard(c.jaccard), a_error(c.a_error), b_error(c.b_error),
          both_error(c.both_error), either_error(c.either_error), jaccard_error(c.jaccard_error), exact(c.exact != 0) {}
};

inline trait traits_of(kind k) noexcept {
    return static_cast<trait>(::perhaps_kind_traits(static_cast<int>(k)));
}

/* ---------------------------------------------------------------------------------- hasher --- */

/* A hash with its seed or secret key: a value. */
class hasher {
  public:
    static result<hasher> create(ph::hash hash = ph::hash::automatic, std::uint64_t seed = 0,
                                 span<const std::uint8_t> hash_key = {}) noexcept {
        if (!detail::good_hash_key(hash_key)) return detail::bad_hash_key();
        hasher made{::perhaps_hasher()};
        int rc =
            ::perhaps_hasher_init(&made.c_, static_cast<int>(hash), seed, hash_key.empty() ? nullptr : hash_key.data());
        if (rc < 0) return detail::why(rc);
        return made;
    }
    explicit hasher(const ::perhaps_hasher &c) noexcept : c_(c) {}

    /* The digest of a key; a digest is its own. */
    digest operator()(const key &k) const noexcept {
        auto as_it_is = [](const ::perhaps_hasher *, std::uint64_t word) noexcept { return word; };
        return digest{k.call(&c_, ::perhaps_digest, ::perhaps_digest_u64, as_it_is)};
    }
    result<void> many(const keys &batch, span<digest> digests) const noexcept {
        std::uint64_t *first = digests.empty() ? nullptr : &digests.data()->value;
        return batch.run<void>(digests.size(),
                               [&](const ::perhaps_keys *c) noexcept { return ::perhaps_digest_many(&c_, c, first); });
    }

    const ::perhaps_hasher *get() const noexcept { return &c_; }

  private:
    ::perhaps_hasher c_;
};

/* --------------------------------------------------------------------------------- members --- */

/* The members of a table (digests) or a bitmap (integers, as the value of a digest), as an input
 * range. What changes the filter ends the validity of its iterators. */
class member_range {
  public:
    class iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = digest;
        using difference_type = std::ptrdiff_t;
        using pointer = const digest *;
        using reference = digest;

        iterator() noexcept = default;
        digest operator*() const noexcept { return current_; }
        const digest *operator->() const noexcept { return &current_; }
        iterator &operator++() {
            int rc = ::perhaps_next(f_, &at_, &current_.value);
            if (rc < 0) detail::fail(detail::why(rc));
            if (rc == 0) *this = iterator();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.f_ == b.f_ && a.at_ == b.at_; }
        friend bool operator!=(const iterator &a, const iterator &b) noexcept { return !(a == b); }

      private:
        friend class member_range;
        iterator(const ::perhaps *f, std::uint64_t at) : f_(f), at_(at) { ++*this; }
        const ::perhaps *f_ = nullptr; /* none at the end */
        std::uint64_t at_ = 0;
        digest current_;
    };

    member_range(const ::perhaps *f, std::uint64_t from) noexcept : f_(f), from_(from) {}
    iterator begin() const { return iterator(f_, from_); }
    iterator end() const noexcept { return iterator(); }

  private:
    const ::perhaps *f_;
    std::uint64_t from_;
};

namespace detail {

/* A callable for pieces of bytes, as a sink of the C library. No exception passes through C. */
template <class Sink> class sink_call {
  public:
    explicit sink_call(Sink &sink) noexcept : sink_(sink) {}
    static int run(void *context, const void *data, std::size_t size) noexcept {
        auto *self = static_cast<sink_call *>(context);
        span<const std::byte> piece(static_cast<const std::byte *>(data), size);
#ifdef __cpp_exceptions
        try {
            return self->take(piece);
        } catch (...) {
            self->thrown_ = std::current_exception();
            return 1;
        }
#else
        return self->take(piece);
#endif
    }
    void rethrow() {
#ifdef __cpp_exceptions
        if (thrown_) std::rethrow_exception(thrown_);
#endif
    }

  private:
    int take(span<const std::byte> piece) {
        if constexpr (std::is_void_v<std::invoke_result_t<Sink &, span<const std::byte>>>)
            return sink_(piece), 0;
        else
            return sink_(piece) ? 0 : 1;
    }

    Sink &sink_;
#ifdef __cpp_exceptions
    std::exception_ptr thrown_;
#endif
};

} // namespace detail

/* ---------------------------------------------------------------------------------- filter --- */

/* A filter of any kind: owns a ::perhaps *. It is moved, and copied by clone() only. */
class filter {
  public:
    filter() noexcept = default;
    /* Takes over a handle of the C library. */
    explicit filter(::perhaps *handle) noexcept : f_(handle) {}
    filter(filter &&other) noexcept : f_(other.release()) {}
    filter &operator=(filter &&other) noexcept {
        filter taken(std::move(other));
        swap(taken);
        return *this;
    }
    filter(const filter &) = delete;
    filter &operator=(const filter &) = delete;
    ~filter() { ::perhaps_free(f_); }

    void swap(filter &other) noexcept { std::swap(f_, other.f_); }
    friend void swap(filter &a, filter &b) noexcept { a.swap(b); }
    /* Whether there is a filter. */
    explicit operator bool() const noexcept { return f_ != nullptr; }
    /* The handle, for calls of perhaps.h and perhaps_embed.h; release() gives it away. */
    ::perhaps *get() const noexcept { return f_; }
    [[nodiscard]] ::perhaps *release() noexcept { return std::exchange(f_, nullptr); }

    static result<filter> create(const want &w) noexcept {
        if (!detail::good_hash_key(w.hash_key)) return detail::bad_hash_key();
        ::perhaps_want c = detail::in_c(w);
        return made([&](::perhaps **f) noexcept { return ::perhaps_create(f, &c); });
    }
    static result<filter> open(c_string path, const open_options &options = {}) noexcept {
        if (!detail::good_hash_key(options.hash_key)) return detail::bad_hash_key();
        ::perhaps_open_options c = detail::in_c(options);
        return made([&](::perhaps **f) noexcept { return ::perhaps_open(f, path.c_str(), &c); });
    }
    /* Borrows the image unless open_flag::copy is set. */
    static result<filter> open_memory(bytes image, const open_options &options = {}) noexcept {
        if (!detail::good_hash_key(options.hash_key)) return detail::bad_hash_key();
        ::perhaps_open_options c = detail::in_c(options);
        return made([&](::perhaps **f) noexcept { return ::perhaps_open_memory(f, image.data(), image.size(), &c); });
    }
    result<filter> clone() const noexcept {
        return made([&](::perhaps **copy) noexcept { return ::perhaps_clone(handle(), copy); });
    }

    /* -- single keys -- */

    /* True if the key is new. */
    result<bool> add(const key &k) noexcept {
        return detail::answer<bool>(k.call(f_, ::perhaps_add, ::perhaps_add_u64, ::perhaps_add_digest));
    }
    result<bool> add_absent(const key &k) noexcept {
        return detail::answer<bool>(
            k.call(f_, ::perhaps_add_absent, ::perhaps_add_absent_u64, ::perhaps_add_absent_digest));
    }
    /* False: definitely not. True: perhaps, or the query failed. contains_many() tells errors. */
    bool contains(const key &k) const noexcept {
        return k.call(f_, ::perhaps_contains, ::perhaps_contains_u64, ::perhaps_contains_digest) != 0;
    }
    result<bool> remove(const key &k) noexcept {
        return detail::answer<bool>(k.call(f_, ::perhaps_remove, ::perhaps_remove_u64, ::perhaps_remove_digest));
    }
    result<std::uint64_t> count(const key &k) const noexcept {
        return detail::answer<std::uint64_t>(k.call(f_, ::perhaps_count, ::perhaps_count_u64, ::perhaps_count_digest));
    }

    /* -- batches: how many keys have an answer other than 0; `answers` has a place for each -- */

    result<std::uint64_t> add_many(const keys &batch) noexcept {
        return many(::perhaps_add_many, handle(), batch, keys::none, nullptr);
    }
    result<std::uint64_t> add_many(const keys &batch, span<std::uint8_t> answers) noexcept {
        return many(::perhaps_add_many, handle(), batch, answers.size(), answers.data());
    }
    result<std::uint64_t> contains_many(const keys &batch) const noexcept {
        return many(::perhaps_contains_many, handle(), batch, keys::none, nullptr);
    }
    result<std::uint64_t> contains_many(const keys &batch, span<std::uint8_t> answers) const noexcept {
        return many(::perhaps_contains_many, handle(), batch, answers.size(), answers.data());
    }
    result<std::uint64_t> remove_many(const keys &batch) noexcept {
        return many(::perhaps_remove_many, handle(), batch, keys::none, nullptr);
    }
    result<std::uint64_t> remove_many(const keys &batch, span<std::uint8_t> answers) noexcept {
        return many(::perhaps_remove_many, handle(), batch, answers.size(), answers.data());
    }
    result<std::uint64_t> count_many(const keys &batch, span<std::uint64_t> counts) const noexcept {
        return many(::perhaps_count_many, handle(), batch, counts.size(), counts.data());
    }

    /* With that many threads; 0 = one for each processor. */
    result<std::uint64_t> add_parallel(const keys &batch, unsigned threads = 0) noexcept {
        return many(::perhaps_add_parallel, handle(), batch, keys::none, nullptr, threads);
    }
    result<std::uint64_t> add_parallel(const keys &batch, span<std::uint8_t> answers, unsigned threads = 0) noexcept {
        return many(::perhaps_add_parallel, handle(), batch, answers.size(), answers.data(), threads);
    }
    result<std::uint64_t> contains_parallel(const keys &batch, unsigned threads = 0) const noexcept {
        return many(::perhaps_contains_parallel, handle(), batch, keys::none, nullptr, threads);
    }
    result<std::uint64_t> contains_parallel(const keys &batch, span<std::uint8_t> answers,
                                            unsigned threads = 0) const noexcept {
        return many(::perhaps_contains_parallel, handle(), batch, answers.size(), answers.data(), threads);
    }

    /* -- whole filters -- */

    result<void> merge(const filter &from) noexcept {
        return detail::answer<void>(::perhaps_merge(handle(), from.handle()));
    }
    result<void> intersect(const filter &from) noexcept {
        return detail::answer<void>(::perhaps_intersect(handle(), from.handle()));
    }
    result<void> subtract(const filter &from) noexcept {
        return detail::answer<void>(::perhaps_subtract(handle(), from.handle()));
    }
    result<void> differ(const filter &from) noexcept {
        return detail::answer<void>(::perhaps_differ(handle(), from.handle()));
    }
    result<ph::overlap> overlap(const filter &other) const noexcept {
        struct ::perhaps_overlap c = {};
        c.size = sizeof c;
        int rc = ::perhaps_overlap(handle(), other.handle(), &c);
        if (rc < 0) return detail::why(rc);
        return ph::overlap(c);
    }
    bool equal(const filter &other) const noexcept { return ::perhaps_equal(handle(), other.handle()) == 1; }
    result<void> clear() noexcept { return detail::answer<void>(::perhaps_clear(handle())); }
    result<void> seal(const seal_options &options = {}) noexcept {
        ::perhaps_seal_options c{sizeof(::perhaps_seal_options), options.threads, options.progress, options.context};
        return detail::answer<void>(::perhaps_seal(handle(), &c));
    }

    /* -- windows by time -- */

    /* The number of generations that were forgotten. */
    result<unsigned> advance(std::uint64_t now) noexcept {
        return detail::answer<unsigned>(::perhaps_advance(handle(), now));
    }
    /* What contains_many() and facts() would say after advance(now), without that. */
    result<std::uint64_t> contains_as_of(std::uint64_t now, const keys &batch,
                                         span<std::uint8_t> answers) const noexcept {
        auto query = [](const ::perhaps *f, const ::perhaps_keys *c, std::uint8_t *out, std::uint64_t at) noexcept {
            return ::perhaps_contains_as_of(f, at, c, out);
        };
        return many(query, handle(), batch, answers.size(), answers.data(), now);
    }
    result<ph::info> facts_as_of(std::uint64_t now) const noexcept {
        return told([&](struct ::perhaps_info *c) noexcept { return ::perhaps_facts_as_of(handle(), now, c); });
    }
    /* A callable that returns the time. It must outlive its use, and must not throw. */
    template <class Clock> result<void> set_clock(Clock &clock) noexcept {
        static_assert(std::is_object_v<Clock>, "a function is no object: wrap it in a lambda");
        auto now = [](void *context) noexcept -> std::uint64_t { return (*static_cast<Clock *>(context))(); };
        const void *context = std::addressof(clock);
        return detail::answer<void>(::perhaps_set_clock(handle(), now, const_cast<void *>(context)));
    }
    result<void> clear_clock() noexcept {
        return detail::answer<void>(::perhaps_set_clock(handle(), nullptr, nullptr));
    }

    /* -- looking in -- */

    /* facts() are what needs no reading of the array; child i of a composite filter likewise. */
    result<ph::info> info() const noexcept {
        return told([&](struct ::perhaps_info *c) noexcept { return ::perhaps_info(handle(), c); });
    }
    result<ph::info> facts() const noexcept {
        return told([&](struct ::perhaps_info *c) noexcept { return ::perhaps_facts(handle(), c); });
    }
    result<ph::info> child(unsigned i) const noexcept {
        return told([&](struct ::perhaps_info *c) noexcept { return ::perhaps_child(handle(), i, c); });
    }
    result<ph::info> child_facts(unsigned i) const noexcept {
        return told([&](struct ::perhaps_info *c) noexcept { return ::perhaps_child_facts(handle(), i, c); });
    }
    ph::hasher hasher() const noexcept { return ph::hasher(*::perhaps_hasher_of(handle())); }
    /* The members of a filter with ability::list; of a bitmap those from `from` on. With another
     * kind begin() does what value() of an error does. */
    member_range members(std::uint64_t from = 0) const noexcept { return member_range(handle(), from); }

    /* -- saving -- */

    result<void> save(c_string path) const noexcept {
        return detail::answer<void>(::perhaps_save(handle(), path.c_str()));
    }
    /* Calls sink(span<const std::byte>) with each piece of the image, in order. A sink that returns
     * false ends it with errc::io. What it throws comes out of write(). */
    template <class Sink> result<void> write(Sink &&sink) const {
        detail::sink_call<std::remove_reference_t<Sink>> call(sink);
        int rc = ::perhaps_write(handle(), call.run, &call);
        call.rethrow();
        return detail::answer<void>(rc);
    }
    /* Valid until the next call that changes the filter. */
    result<span<const std::byte>> image() noexcept {
        const void *data = nullptr;
        std::uint64_t size = 0;
        int rc = ::perhaps_image(handle(), &data, &size);
        if (rc < 0) return detail::why(rc);
        return span<const std::byte>(static_cast<const std::byte *>(data), static_cast<std::size_t>(size));
    }
    result<void> sync() noexcept { return detail::answer<void>(::perhaps_sync(handle())); }

  private:
    friend class file_lock;

    ::perhaps *handle() const noexcept {
        assert(f_);
        return f_;
    }
    template <class Make> static result<filter> made(Make make) noexcept {
        ::perhaps *f = nullptr;
        int rc = make(&f);
        if (rc < 0) return detail::why(rc);
        return filter(f);
    }
    template <class Tell> static result<ph::info> told(Tell tell) noexcept {
        struct ::perhaps_info c = {};
        c.size = sizeof c;
        int rc = tell(&c);
        if (rc < 0) return detail::why(rc);
        return ph::info(c);
    }
    template <class Call, class Answers, class... More>
    static result<std::uint64_t> many(Call call, ::perhaps *f, const keys &batch, std::size_t places, Answers answers,
                                      More... more) noexcept {
        return batch.run<std::uint64_t>(places,
                                        [&](const ::perhaps_keys *c) noexcept { return call(f, c, answers, more...); });
    }

    ::perhaps *f_ = nullptr;
};

/* A lock on a file, from before it is opened until it is saved. It ends with the object. */
class file_lock {
  public:
    /* errc::busy if another has it: the library never waits. */
    static result<file_lock> acquire(c_string path) noexcept {
        ::perhaps_lock *lock = nullptr;
        int rc = ::perhaps_lock_file(&lock, path.c_str());
        if (rc < 0) return detail::why(rc);
        return file_lock(lock);
    }
    file_lock(file_lock &&other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    file_lock &operator=(file_lock &&other) noexcept {
        file_lock taken(std::move(other));
        std::swap(lock_, taken.lock_);
        return *this;
    }
    file_lock(const file_lock &) = delete;
    file_lock &operator=(const file_lock &) = delete;
    ~file_lock() { ::perhaps_unlock(lock_); }

    /* Replaces the locked file; the lock goes over to the new one. */
    result<void> save(const filter &f) noexcept {
        assert(lock_);
        return detail::answer<void>(::perhaps_save_locked(f.handle(), lock_));
    }
    ::perhaps_lock *get() const noexcept { return lock_; }

  private:
    explicit file_lock(::perhaps_lock *lock) noexcept : lock_(lock) {}
    ::perhaps_lock *lock_;
};

} // inline namespace

} // namespace ph

#endif
