// SPDX-License-Identifier: Apache-2.0
/* ICMP echo (RFC 792) over a raw socket. A lost request costs REPLY_MS; replies of others are skipped. */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REPLY_MS  2000
#define COUNT_MAX 1000

struct echo {
	struct icmphdr head;
	char payload[56]; /* as ping(8) sends */
};

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* this clock always exists */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The Internet checksum of RFC 1071. */
static unsigned short checksum(const void *data, size_t len)
{
	const unsigned char *p = data;
	unsigned sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		unsigned short word;

		memcpy(&word, p + i, sizeof word);
		sum += word;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned short)~sum;
}

static int echo_send(int sock, int seq)
{
	struct echo e = {
		.head = {.type = ICMP_ECHO,
			 .un.echo = {htons((unsigned short)getpid()), htons((unsigned short)seq)}}};

	e.head.checksum = checksum(&e, sizeof e);
	return send(sock, &e, sizeof e, 0) < 0 ? -errno : 0;
}

static bool is_reply(const char *packet, ssize_t len, int seq)
{
	struct iphdr ip;
	struct icmphdr icmp;

	if (len < (ssize_t)sizeof ip)
		return false;
	memcpy(&ip, packet, sizeof ip);
	if (len < (ssize_t)(ip.ihl * 4U + sizeof icmp))
		return false;
	memcpy(&icmp, packet + ip.ihl * 4U, sizeof icmp);
	return icmp.type == ICMP_ECHOREPLY && icmp.un.echo.id == htons((unsigned short)getpid()) &&
	       icmp.un.echo.sequence == htons((unsigned short)seq);
}

static int echo_wait(int sock, int seq)
{
	double end = now_ms() + REPLY_MS;
	char packet[1500];

	for (;;) {
		struct pollfd p = {sock, POLLIN, 0};
		double left = end - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int)left + 1) <= 0)
			return -ETIMEDOUT;
		n = recv(sock, packet, sizeof packet, MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n > 0 && is_reply(packet, n, seq))
			return 0;
	}
}

static int ping_socket(const char *address, int *ret, struct err *err)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	_cleanup_fd_ int sock = -1;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return err_set(err, -EINVAL, "'%s' is not an IPv4 address", address);
	sock = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (sock < 0 || connect(sock, (struct sockaddr *)&to, sizeof to) < 0)
		return err_errno(err, -errno, "%s", address);
	*ret = TAKE_FD(sock);
	return 0;
}

int cmd_ping(int argc, char **argv, struct err *err)
{
	_cleanup_fd_ int sock = -1;
	long count = 1;
	int r = 0, received = 0;

	if (argc > 1)
		r = num_parse(argv[1], "count", 1, COUNT_MAX, &count, err);
	if (r >= 0)
		r = ping_socket(argv[0], &sock, err);
	if (r < 0)
		return r;
	for (int seq = 1; seq <= count; seq++) {
		double start = now_ms();

		r = echo_send(sock, seq);
		if (r >= 0)
			r = echo_wait(sock, seq);
		if (r < 0) {
			printf("seq=%d lost=%s\n", seq, strerror(-r));
			continue;
		}
		printf("seq=%d ms=%.3f\n", seq, now_ms() - start);
		received++;
	}
	printf("sent=%ld received=%d\n", count, received);
	return received ? 0 : err_set(err, -EHOSTUNREACH, "no reply from %s", argv[0]);
}
