/* SPDX-License-Identifier: BSD-2-Clause */
/* Templates, virtual calls, lambdas, exceptions, a switch, initialisers, loops to vectorise. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>
namespace
{
struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
template <int N> struct Poly : Shape {
	double s;
	explicit Poly(double x) : s(x)
	{
	}
	double area() const override
	{
		double a = 0;
		for (int i = 0; i < N; i++)
			a += s * i;
		return a;
	}
};
} // namespace
static const int init_count = [] { return std::getenv("X") ? 3 : 4; }();
static std::string global_text = std::string("abc") + std::to_string(init_count);
static int helper(int x)
{
	if (x > 100)
		throw std::string("big");
	return x * 3;
}
template <class T, class F> static T fold(const std::vector<T> &v, T init, F f)
{
	for (auto &x : v)
		init = f(init, x);
	return init;
}
__attribute__((noinline)) static int sw(int k, int v)
{
	switch (k) {
	case 0:
		return v + 1;
	case 1:
		return v * 2;
	case 2:
		return v - 7;
	case 3:
		return v ^ 5;
	case 4:
		return v << 2;
	case 5:
		return helper(v % 50);
	default:
		return v;
	}
}
struct Counter {
	std::map<std::string, int> m;
	void add(const std::string &s)
	{
		m[s]++;
	}
	int total() const
	{
		int t = 0;
		for (auto &p : m)
			t += p.second;
		return t;
	}
};
#define DO(x)                                                                                      \
	do {                                                                                       \
		if (x) {                                                                           \
			total += (x);                                                              \
		}                                                                                  \
	} while (0)
int main(int argc, char **argv)
{
	std::vector<int> v(1000);
	std::iota(v.begin(), v.end(), argc);
	std::sort(v.begin(), v.end(),
	          [](int a, int b) { return (a * 7919 % 1009) < (b * 7919 % 1009); });
	long total = fold(v, 0, [](int a, int b) { return a * 31 + b; });
	std::vector<std::unique_ptr<Shape>> shapes;
	for (int i = 0; i < 50; i++) {
		if (i % 3 == 0)
			shapes.emplace_back(new Poly<3>(i));
		else if (i % 3 == 1)
			shapes.emplace_back(new Poly<5>(i));
		else
			shapes.emplace_back(new Poly<7>(i));
	}
	double area = 0;
	for (auto &s : shapes)
		area += s->area();
	Counter c;
	for (int i = 0; i < 500; i++)
		c.add(global_text + std::to_string(i % 37));
	std::unordered_map<int, std::function<int(int)>> fs;
	for (int i = 0; i < 8; i++)
		fs[i] = [i](int x) { return sw(i, x); };
	for (int i = 0; i < 2000; i++) {
		try {
			total += fs[i % 8](i);
		} catch (const std::string &s) {
			total -= (long)s.size();
		}
	}
	DO(c.total());
	float a[256], b[256];
	for (int i = 0; i < 256; i++) {
		a[i] = i;
		b[i] = (float)(i * argc);
	}
	for (int i = 0; i < 256; i++)
		a[i] = a[i] * b[i] + 3;
	for (int i = 0; i < 256; i++)
		total += (long)a[i];
	printf("%ld %f\n", total, area);
	return argv[0] == nullptr;
}
